import { background } from '../background.ts';
import type { ChangeListener, Interest } from './changes.ts';
import type { Subject } from './subject.ts';
import { TaggedRuns } from './tagged-runs.ts';
import { WatchedSet, type SetSources } from './watched-set.ts';

export interface Sets {
  /** The set of a subject, shared by its subscribers. Call `release` when done. */
  hold(subject: Subject): { readonly set: WatchedSet; release(): void };
  readonly size: number;
  stop(): void;
}

/** How long a set without subscribers is retained in case one returns. */
const lingerMs = 60_000;

interface SharedSet {
  readonly set: WatchedSet;
  readonly unwatch: () => void;
  users: number;
  end: NodeJS.Timeout | undefined;
}

/** The sets of one environment, indexed by tag, and those without tags. */
interface EnvironmentSets {
  readonly byTag: Map<string, Set<WatchedSet>>;
  readonly others: Set<WatchedSet>;
  readonly tagged: TaggedRuns;
}

export function watchSets(
  sources: SetSources,
  interest: Interest,
  { pollMs = 2_000, retainMs = lingerMs }: { readonly pollMs?: number; readonly retainMs?: number } = {},
): Sets {
  const shared = new Map<string, SharedSet>();
  const byEnv = new Map<number, EnvironmentSets>();
  const { followed } = sources;

  const setsOf = (env: number): EnvironmentSets => {
    const known = byEnv.get(env);
    if (known) return known;
    const byTag = new Map<string, Set<WatchedSet>>();
    const tagged = new TaggedRuns(
      sources,
      env,
      () => [...byTag.keys()],
      (run) => {
        for (const tag of run.tags) for (const set of byTag.get(tag) ?? []) set.found(run);
      },
    );
    const sets = { byTag, others: new Set<WatchedSet>(), tagged };
    byEnv.set(env, sets);
    return sets;
  };

  const addSet = (set: WatchedSet): void => {
    const { byTag, others } = setsOf(set.subject.env);
    if (!set.subject.tags) others.add(set);
    for (const tag of set.subject.tags ?? []) {
      const sets = byTag.get(tag);
      if (sets) sets.add(set);
      else byTag.set(tag, new Set([set]));
    }
  };

  const removeSet = (set: WatchedSet): void => {
    const { env, tags } = set.subject;
    const { byTag, others } = setsOf(env);
    others.delete(set);
    for (const tag of tags ?? []) {
      byTag.get(tag)?.delete(set);
      if (byTag.get(tag)?.size === 0) byTag.delete(tag);
    }
    if (byTag.size === 0 && others.size === 0) byEnv.delete(env);
  };

  const drop = (key: string): void => {
    const entry = shared.get(key);
    if (!entry) return;
    shared.delete(key);
    clearTimeout(entry.end);
    removeSet(entry.set);
    entry.unwatch();
    entry.set.close();
  };

  const scan = ({ tagged, others }: EnvironmentSets): void => {
    tagged.scan();
    for (const set of others) set.scan();
  };

  const listener: ChangeListener = {
    changed: (env, runs) => followed.changed(env, runs),
    tagged(env, run, tags) {
      const byTag = byEnv.get(env)?.byTag;
      // Only one of the set's tags may match; whether the run belongs to the set is checked when it is read.
      for (const tag of tags) for (const set of byTag?.get(tag) ?? []) set.add(run);
      followed.changed(env, [run]);
    },
    someChanged(env) {
      followed.someChanged(env);
      const sets = byEnv.get(env);
      if (sets) scan(sets);
    },
  };
  interest.listen(listener);

  const stopPolling = background(pollMs, () => {
    for (const sets of byEnv.values()) scan(sets);
    for (const { set } of shared.values()) set.tidy();
  });

  return {
    hold(subject) {
      const { key } = subject;
      let entry = shared.get(key);
      if (!entry) {
        const set = new WatchedSet(subject, sources);
        entry = { set, unwatch: interest.watch(subject.env), users: 0, end: undefined };
        shared.set(key, entry);
        addSet(set);
        // Waiting callers receive the error; the next `hold` tries again.
        set.ready.catch(() => drop(key));
      }
      const current = entry;
      current.users++;
      clearTimeout(current.end);
      let released = false;
      return {
        set: current.set,
        release() {
          if (released) return;
          released = true;
          if (--current.users > 0) return;
          current.end = setTimeout(() => shared.get(key) === current && drop(key), retainMs);
          current.end.unref();
        },
      };
    },
    get size() {
      return shared.size;
    },
    stop() {
      stopPolling();
      for (const key of shared.keys()) drop(key);
    },
  };
}
