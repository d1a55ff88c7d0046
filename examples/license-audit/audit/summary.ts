import type { ErrorGroup, TaskOutput } from '@millrace/sdk';
import type { audit } from '../tasks/audit.ts';

const row = (count: number, text: string): string => `  ${String(count).padStart(4)}  ${text}`;

/** The result of an audit, in lines for a person. */
export function summary(
  { passed, failed, failedInProduction, licenses, report }: TaskOutput<typeof audit>,
  groups: readonly ErrorGroup[],
  tookMs: number,
): string[] {
  return [
    `${passed + failed} packages audited in ${(tookMs / 1_000).toFixed(1)} s: ${passed} passed, ${failed} failed.`,
    `Failed, and installed for production: ${failedInProduction.join(', ') || 'none'}.`,
    `Report: ${report}`,
    '',
    'Licenses',
    ...Object.entries(licenses).map(([license, count]) => row(count, license)),
    '',
    'Error groups, over all audits',
    ...groups.map((group) => row(group.count, `${group.id}  ${group.errorType}: ${group.errorMessage}`)),
    ...(groups.length === 0 ? ['  none'] : []),
  ];
}
