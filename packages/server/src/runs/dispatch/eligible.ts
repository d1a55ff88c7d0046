import type { ConnectedRunner } from '../../runners/runners.ts';
import type { CurrentVersion, FetchableVersion } from '../../versions/versions.ts';
import { unmetRequirements } from './unmet-requirements.ts';

/** Maximum number of versions that a runner names in every claim. A runner with more names only versions with waiting runs. */
const namedAlways = 32;

/** Whether a runner could fetch a version and execute it. */
export const canFetch = (runner: ConnectedRunner, version: FetchableVersion, now: number): boolean =>
  runner.properties !== undefined &&
  (runner.unable.get(version.version)?.until ?? 0) <= now &&
  unmetRequirements(runner.properties, version).length === 0;

export interface Choice {
  readonly runner: ConnectedRunner;
  /** Runners of the same environment and process, including this one. */
  readonly others: Iterable<ConnectedRunner>;
  readonly current: Pick<CurrentVersion, 'id' | 'canary'> | undefined;
  readonly fetchable: readonly FetchableVersion[];
  /** Versions with waiting runs bound to them. */
  readonly waiting: ReadonlySet<number>;
  readonly now: number;
}

/**
 * The versions whose runs a claim may lease to a runner: those it has loaded, and those it can fetch and that no other runner with a free
 * slot has loaded. 0 stands for runs that start on the current version or the canary.
 */
export function pinsFor({ runner, others, current, fetchable, waiting, now }: Choice): number[] {
  const { versions } = runner;
  const loaded = versions.size <= namedAlways ? versions : [...versions].filter((id) => waiting.has(id));
  const pins = new Set(loaded);
  if (runner.properties && fetchable.length > 0) {
    const byId = indexOf(fetchable);
    const elsewhere = new Set<number>();
    for (const other of others)
      if (other !== runner && other.free > 0) for (const id of other.versions) elsewhere.add(id);
    const unbound = [current?.id, current?.canary?.id].filter((id) => id !== undefined);
    for (const id of [...waiting, ...unbound]) {
      const version = byId.get(id);
      if (version && !versions.has(id) && !elsewhere.has(id) && canFetch(runner, version, now)) pins.add(id);
    }
  }
  const canary = current?.canary;
  if (canary && versions.has(canary.id)) pins.add(canary.id);
  // Runs without a pinned version start on the current version or the canary.
  const serves = (id: number | undefined) => id !== undefined && (versions.has(id) || pins.has(id));
  return serves(current?.id) || serves(canary?.id) ? [0, ...pins] : [...pins];
}

/**
 * The versions that a runner should keep ready, most important first: the current one, the canary, those with a pending promotion, and the
 * newest, which may be promoted next. An on-demand runner loads only those with a pending promotion.
 */
export function versionsToLoad(
  runner: ConnectedRunner,
  current: Pick<CurrentVersion, 'id' | 'canary'> | undefined,
  fetchable: readonly FetchableVersion[],
  now: number,
  requested: readonly number[] = [],
): FetchableVersion[] {
  const byId = indexOf(fetchable);
  const serving = [current?.id, current?.canary?.id];
  const ids = runner.isOnDemand
    ? requested.filter((id) => !serving.includes(id))
    : [...serving, ...requested, fetchable[0]?.id];
  return [...new Set(ids.filter((id) => id !== undefined).map((id) => byId.get(id)))]
    .filter((version) => version !== undefined)
    .filter((version) => canFetch(runner, version, now));
}

const indexes = new WeakMap<readonly FetchableVersion[], ReadonlyMap<number, FetchableVersion>>();

/** An index by id. Lists are cached, and replaced when they change. */
function indexOf(fetchable: readonly FetchableVersion[]): ReadonlyMap<number, FetchableVersion> {
  let index = indexes.get(fetchable);
  if (!index) {
    index = new Map(fetchable.map((version) => [version.id, version]));
    indexes.set(fetchable, index);
  }
  return index;
}
