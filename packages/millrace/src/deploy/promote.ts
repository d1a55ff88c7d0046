import { setTimeout } from 'node:timers/promises';
import type { RunnerInfo } from '@millrace/contract';
import type { Bundle } from '@millrace/contract/runner';
import { callServer, type DeployTarget } from './client.ts';

const pollMs = 250;

/** Why a version was not loaded by a runner: a sentence. */
export type NotLoaded = string;

/** Waits until a connected runner has loaded a version. Resolves with why none has, if that does not happen in time. */
export async function waitForRunner(
  target: DeployTarget,
  version: string,
  bundle: Pick<Bundle, 'nodeMajor' | 'layers' | 'requires'>,
  waitMs: number,
): Promise<NotLoaded | undefined> {
  const deadline = performance.now() + waitMs;
  for (;;) {
    const { runners } = await callServer(target, 'retrieveDeployment', { params: { version } });
    if (runners > 0) return undefined;
    const { data } = await callServer(target, 'listRunners');
    const why = whyNone(data, bundle);
    if (why !== undefined) return why;
    if (performance.now() >= deadline)
      return `No connected runner has loaded it within ${Math.round(waitMs / 1_000)} s. See \`millrace runners list\` and the log of the runners.`;
    await setTimeout(pollMs, undefined, { ...(target.signal && { signal: target.signal }) });
  }
}

/** Why no connected runner will load a version; undefined if one may. */
function whyNone(
  runners: readonly RunnerInfo[],
  { nodeMajor, layers, requires }: Pick<Bundle, 'nodeMajor' | 'layers' | 'requires'>,
): string | undefined {
  const fetching = runners.filter(({ platform, draining }) => platform !== null && !draining);
  if (fetching.length === 0) return 'No runner that fetches versions is connected.';
  const old = ({ nodeMajor: own }: RunnerInfo): boolean => (own ?? 0) < nodeMajor;
  const strange = ({ platform }: RunnerInfo): boolean =>
    layers.length > 0 && !layers.some((layer) => layer.platform === platform);
  const lacks = ({ labels }: RunnerInfo): boolean => requires.some((label) => !labels.includes(label));
  if (fetching.some((one) => !old(one) && !strange(one) && !lacks(one))) return undefined;
  if (fetching.every(old))
    return `It needs Node.js ${nodeMajor}, and every connected runner has an older one.`;
  if (fetching.every(strange))
    return `It has packages for ${layers.map(({ platform }) => platform).join(', ')}, and no connected runner is one of these: see build.platforms in millrace.config.ts.`;
  return `No connected runner has everything that it needs: Node.js ${nodeMajor}${requires.length > 0 ? `, the labels ${requires.join(', ')}` : ''}.`;
}
