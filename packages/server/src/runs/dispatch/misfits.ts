import type { RunnerFacts } from '@millrace/contract/runner';
import type { FetchableVersion } from '../../versions/versions.ts';

/** The requirements of a version for runners. */
export type Needs = Pick<FetchableVersion, 'nodeMajor' | 'platforms' | 'requires'>;

/** The requirements that a runner does not meet for a fetched version; empty if it can execute it. */
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
