import type { RunnerProperties } from '@millrace/contract/runner';
import type { FetchableVersion } from '../../versions/versions.ts';

/** The requirements of a version for runners. */
export type Needs = Pick<FetchableVersion, 'nodeMajor' | 'platforms' | 'requires'>;

/** The requirements that a runner does not meet for a fetched version; empty if it can execute it. */
export function unmetRequirements(
  properties: RunnerProperties,
  { nodeMajor, platforms, requires }: Needs,
): string[] {
  const labels = requires.filter((label) => !properties.labels.includes(label));
  return [
    ...(properties.nodeMajor < nodeMajor ? [`Node.js ${nodeMajor} (it has ${properties.nodeMajor})`] : []),
    ...(platforms.length > 0 && !platforms.includes(properties.platform)
      ? [`one of the platforms ${platforms.join(', ')} (it is ${properties.platform})`]
      : []),
    ...labels.map((label) => `the label "${label}"`),
  ];
}
