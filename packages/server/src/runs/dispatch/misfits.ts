import type { RunnerFacts } from '@millrace/contract/runner';
import type { FetchableVersion } from '../../versions/versions.ts';

/** What a version needs of a runner. */
export type Needs = Pick<FetchableVersion, 'nodeMajor' | 'platforms' | 'requires'>;

/** What a runner lacks to execute a fetched version; empty if it can. */
export function misfits(facts: RunnerFacts, { nodeMajor, platforms, requires }: Needs): string[] {
  const labels = requires.filter((label) => !facts.labels.includes(label));
  return [
    ...(facts.nodeMajor < nodeMajor ? [`Node.js ${nodeMajor} (it has ${facts.nodeMajor})`] : []),
    ...(platforms.length > 0 && !platforms.includes(facts.platform)
      ? [`one of the platforms ${platforms.join(', ')} (it is ${facts.platform})`]
      : []),
    ...labels.map((label) => `the label "${label}"`),
  ];
}
