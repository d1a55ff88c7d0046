import { setTimeout } from 'node:timers/promises';
import type { Operations, Reply, RunnerInfo } from '@millrace/contract';
import { ServerRefused } from '../api/errors.ts';
import { callServer, type DeployTarget } from './client.ts';

const pollMs = 250;

/** The requirements of a version on a runner. */
export interface Needs {
  readonly nodeMajor: number;
  /** The platforms of its layers. Without any it runs on all. */
  readonly platforms: readonly string[];
  readonly requires: readonly string[];
}

export interface PromoteOptions {
  readonly allowRollbacks: boolean;
  readonly force: boolean;
  /** Percentage of the new runs, as a canary. */
  readonly percent?: number | undefined;
  /** Milliseconds to wait for a runner that has loaded the version. */
  readonly waitMs: number;
}

/** `why`: the reason. No runner has loaded the version, or none will. */
export type Promotion = Reply<Operations['promoteDeployment']> | { readonly why: string };

/**
 * Makes a version current, or the canary. Retries while no connected runner has loaded it; each attempt makes the server request that from
 * capable runners. Stops immediately if no connected runner can.
 */
export async function promoteWhenLoaded(
  target: DeployTarget,
  version: string,
  needs: Needs,
  { allowRollbacks, force, percent, waitMs }: PromoteOptions,
): Promise<Promotion> {
  const query = {
    allowRollbacks: String(allowRollbacks),
    force: String(force),
    ...(percent !== undefined && { percent: String(percent) }),
  };
  const deadline = performance.now() + waitMs;
  for (;;) {
    try {
      return await callServer(target, 'promoteDeployment', { params: { version }, query });
    } catch (error) {
      if (!(error instanceof ServerRefused) || error.code !== 'version_not_loaded') throw error;
    }
    const { data } = await callServer(target, 'listRunners');
    const why = whyNone(data, needs);
    if (why !== undefined) return { why };
    if (performance.now() >= deadline)
      return {
        why: `No connected runner has loaded it within ${Math.round(waitMs / 1_000)} s. See \`millrace runners list\` and the log of the runners.`,
      };
    await setTimeout(pollMs, undefined, { ...(target.signal && { signal: target.signal }) });
  }
}

/** The reason why no connected runner will load a version; undefined if one may. */
function whyNone(
  runners: readonly RunnerInfo[],
  { nodeMajor, platforms, requires }: Needs,
): string | undefined {
  const fetching = runners.filter(({ platform, draining }) => platform !== null && !draining);
  if (fetching.length === 0) return 'No runner that fetches versions is connected.';
  const old = ({ nodeMajor: own }: RunnerInfo): boolean => (own ?? 0) < nodeMajor;
  const strange = ({ platform }: RunnerInfo): boolean =>
    platforms.length > 0 && !platforms.some((supported) => supported === platform);
  const lacks = ({ labels }: RunnerInfo): boolean => requires.some((label) => !labels.includes(label));
  if (fetching.some((runner) => !old(runner) && !strange(runner) && !lacks(runner))) return undefined;
  if (fetching.every(old))
    return `It needs Node.js ${nodeMajor}, and every connected runner has an older one.`;
  if (fetching.every(strange))
    return `It has packages for ${platforms.join(', ')}, but no connected runner has one of these platforms: see build.platforms in millrace.config.ts.`;
  if (fetching.every(lacks))
    return `No connected runner has ${requires.length === 1 ? 'the label' : 'all of the labels'} ${requires.join(', ')}, as its tasks require (\`millrace work ${requires.map((label) => `--label ${label}`).join(' ')}\`).`;
  const needs = [
    ...(nodeMajor > 0 ? [`Node.js ${nodeMajor}`] : []),
    ...(platforms.length > 0 ? [`the platform ${platforms.join(' or ')}`] : []),
    ...requires.map((label) => `the label ${label}`),
  ];
  return `No connected runner meets all requirements: ${needs.join(', ')}.`;
}
