import type { Wake, Wakes } from '../db/wake.ts';
import type { RunChanges } from '../runs/changes.ts';

export interface ChangeHearer {
  changed(env: number, runs: readonly string[]): void;
  tagged(env: number, run: string, tags: readonly string[]): void;
  /** Another process says that something changed. */
  unsettled(env: number): void;
}

export interface Interest {
  readonly changes: RunChanges;
  hear(hearer: ChangeHearer): void;
  /** From now on this process wants to know about runs of the environment; until the answer is called. */
  watch(env: number): () => void;
  stop(): void;
}

/** How often a process repeats which environments it watches, and how long the others believe it. */
const repeatMs = 5_000;
const believeMs = 3 * repeatMs;

/** Between processes only the environment is named, and only to those who said that they watch it. */
export function createInterest(wakes: Wakes): Interest {
  const watched = new Map<number, number>();
  const elsewhere = new Map<number, number>();
  let hearer: ChangeHearer | undefined;

  const tellOthers = (env: number): void => {
    const until = elsewhere.get(env);
    if (until === undefined) return;
    if (until > performance.now()) wakes.tell({ kind: 'runs', env });
    else elsewhere.delete(env);
  };

  wakes.listen((wake: Wake) => {
    if (wake.kind === 'watching') elsewhere.set(wake.env, performance.now() + believeMs);
    if (wake.kind === 'runs' && watched.has(wake.env)) hearer?.unsettled(wake.env);
  });
  const repeat = setInterval(() => {
    for (const env of watched.keys()) wakes.tell({ kind: 'watching', env });
  }, repeatMs);
  repeat.unref();

  return {
    changes: {
      isWatched: (env) => watched.has(env) || elsewhere.has(env),
      changed(env, runs) {
        if (watched.has(env)) hearer?.changed(env, runs);
        if (elsewhere.size > 0) tellOthers(env);
      },
      tagged(env, run, tags) {
        if (tags.length === 0) return;
        if (watched.has(env)) hearer?.tagged(env, run, tags);
        if (elsewhere.size > 0) tellOthers(env);
      },
      unsettled(env) {
        if (watched.has(env)) hearer?.unsettled(env);
        if (elsewhere.size > 0) tellOthers(env);
      },
    },
    hear: (one) => void (hearer = one),
    watch(env) {
      const count = watched.get(env) ?? 0;
      watched.set(env, count + 1);
      if (count === 0) wakes.tell({ kind: 'watching', env });
      return () => {
        const left = (watched.get(env) ?? 1) - 1;
        if (left > 0) watched.set(env, left);
        else watched.delete(env);
      };
    },
    stop: () => clearInterval(repeat),
  };
}
