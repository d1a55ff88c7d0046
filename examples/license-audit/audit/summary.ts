import type { ErrorGroup } from '@millrace/sdk';
import type { Audit } from './run-audit.ts';

const row = (count: number, text: string): string => `  ${String(count).padStart(4)}  ${text}`;

/** What an audit found, in lines for a person. */
export function summary({ runs, tookMs, report }: Audit, groups: readonly ErrorGroup[]): string[] {
  const passed = runs.filter((run) => run.isSuccess);
  const failed = runs.filter((run) => !run.isSuccess);
  const retried = runs.filter((run) => run.attemptCount > 1);
  const counts = new Map<string, number>();
  for (const licence of passed.flatMap((run) => run.output?.licences ?? [])) {
    counts.set(licence, (counts.get(licence) ?? 0) + 1);
  }
  const byCount = [...counts].toSorted((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]));
  return [
    `${runs.length} packages audited in ${(tookMs / 1_000).toFixed(1)} s: ${passed.length} passed, ${failed.length} failed.`,
    `${retried.length} runs were retried, because another run was writing the report (${report}).`,
    '',
    'Licences',
    ...byCount.map(([licence, count]) => row(count, licence)),
    '',
    'Error groups',
    ...groups.map((group) => row(group.count, `${group.id}  ${group.errorType}: ${group.errorMessage}`)),
    ...(groups.length === 0 ? ['  none'] : []),
  ];
}

/** What contradicts the service's promises; empty when the audit went as it should. */
export function contradictions({ runs }: Audit, groups: readonly ErrorGroup[]): string[] {
  const failed = runs.filter((run) => run.isFailed).length;
  const grouped = groups.reduce((sum, group) => sum + group.count, 0);
  const unfinished = runs.filter((run) => !run.isCompleted).length;
  const unexpected = runs.filter((run) => run.isCompleted && !run.isSuccess && run.status !== 'FAILED');
  return [
    ...(runs.length === 0 ? ['no package was found'] : []),
    ...(unfinished > 0 ? [`${unfinished} runs have not ended`] : []),
    ...unexpected.map((run) => `run ${run.id} is ${run.status}`),
    ...(grouped === failed ? [] : [`${failed} runs failed but ${grouped} failures are in error groups`]),
  ];
}
