import type { ChangeHearer, Interest } from './changes.ts';
import type { Subject } from './subject.ts';
import { TaggedRuns } from './tagged-runs.ts';
import { WatchedSet, type SetSources } from './watched-set.ts';

export interface Sets {
  /** The set of a subject, shared by all who watch it; `release` it when done. */
  hold(subject: Subject): { readonly set: WatchedSet; release(): void };
  readonly size: number;
  stop(): void;
}

/** A subscriber who is away for less than this finds its set still there. */
const lingerMs = 60_000;

interface Held {
  readonly set: WatchedSet;
  readonly unwatch: () => void;
  users: number;
  end: NodeJS.Timeout | undefined;
}

/** The sets of one environment: by each of their tags, and those that have none. */
interface Place {
  readonly byTag: Map<string, Set<WatchedSet>>;
  readonly others: Set<WatchedSet>;
  readonly tagged: TaggedRuns;
}

export function watchSets(
  sources: SetSources,
  interest: Interest,
  { pollMs = 2_000, stayMs = lingerMs }: { readonly pollMs?: number; readonly stayMs?: number } = {},
): Sets {
  const held = new Map<string, Held>();
  const places = new Map<number, Place>();
  const { followed } = sources;

  const placeOf = (env: number): Place => {
    const known = places.get(env);
    if (known) return known;
    const byTag = new Map<string, Set<WatchedSet>>();
    const tagged = new TaggedRuns(
      sources,
      env,
      () => [...byTag.keys()],
      (run) => {
        for (const tag of run.tags) for (const set of byTag.get(tag) ?? []) set.find(run);
      },
    );
    const place = { byTag, others: new Set<WatchedSet>(), tagged };
    places.set(env, place);
    return place;
  };

  const put = (set: WatchedSet): void => {
    const { byTag, others } = placeOf(set.subject.env);
    if (!set.subject.tags) others.add(set);
    for (const tag of set.subject.tags ?? []) {
      const sets = byTag.get(tag);
      if (sets) sets.add(set);
      else byTag.set(tag, new Set([set]));
    }
  };

  const take = (set: WatchedSet): void => {
    const { env, tags } = set.subject;
    const { byTag, others } = placeOf(env);
    others.delete(set);
    for (const tag of tags ?? []) {
      byTag.get(tag)?.delete(set);
      if (byTag.get(tag)?.size === 0) byTag.delete(tag);
    }
    if (byTag.size === 0 && others.size === 0) places.delete(env);
  };

  const drop = (key: string): void => {
    const one = held.get(key);
    if (!one) return;
    held.delete(key);
    clearTimeout(one.end);
    take(one.set);
    one.unwatch();
    one.set.close();
  };

  const look = ({ tagged, others }: Place): void => {
    tagged.look();
    for (const set of others) set.look();
  };

  const hearer: ChangeHearer = {
    changed: (env, runs) => followed.look(env, runs),
    tagged(env, run, tags) {
      const byTag = places.get(env)?.byTag;
      // Perhaps only one of the set's tags is new: whether the run belongs is seen when it is read.
      for (const tag of tags) for (const set of byTag?.get(tag) ?? []) set.add(run);
      followed.look(env, [run]);
    },
    unsettled(env) {
      followed.lookAtAll(env);
      const place = places.get(env);
      if (place) look(place);
    },
  };
  interest.hear(hearer);

  const poll = setInterval(() => {
    for (const place of places.values()) look(place);
    for (const { set } of held.values()) set.tidy();
  }, pollMs);
  poll.unref();

  return {
    hold(subject) {
      const { key } = subject;
      let one = held.get(key);
      if (!one) {
        const set = new WatchedSet(subject, sources);
        one = { set, unwatch: interest.watch(subject.env), users: 0, end: undefined };
        held.set(key, one);
        put(set);
        // Whoever waits for it hears of it; the next one tries anew.
        set.ready.catch(() => drop(key));
      }
      const mine = one;
      mine.users++;
      clearTimeout(mine.end);
      let released = false;
      return {
        set: mine.set,
        release() {
          if (released) return;
          released = true;
          if (--mine.users > 0) return;
          mine.end = setTimeout(() => held.get(key) === mine && drop(key), stayMs);
          mine.end.unref();
        },
      };
    },
    get size() {
      return held.size;
    },
    stop() {
      clearInterval(poll);
      for (const key of held.keys()) drop(key);
    },
  };
}
