import { isFinal } from '@millrace/contract';
import type { Sql } from '../db/connect.ts';
import { readChanged, type ShownRun } from './shown-run.ts';

/** Told of a run as it is: first when it is looked at next, then after each change. Null when it is gone. */
export type Told = (run: ShownRun | null) => void;

export interface Followed {
  /** From now on `told` hears of the run; until the answer is called. */
  follow(env: number, id: string, told: Told): () => void;
  /** These runs may have changed: look, if anybody follows them. */
  look(env: number, runs: Iterable<string>): void;
  /** Some run of the environment changed. */
  lookAtAll(env: number): void;
  /** Runs that somebody follows, each once. */
  readonly size: number;
  /** Statements sent so far. */
  readonly reads: number;
  stop(): void;
}

interface Entry {
  readonly env: number;
  readonly id: string;
  digest: string | undefined;
  over: boolean;
  readonly told: Set<Told>;
  /** Came since the last look: they are told even if nothing changed. */
  fresh: Set<Told>;
}

export interface FollowOptions {
  /** How often runs that are not over are looked at although nobody said anything. Default 2,000. */
  readonly pollMs?: number;
  /** Called with an environment of which a first run is followed; its answer when the last one is not any more. */
  readonly watch?: (env: number) => () => void;
}

const maxRead = 500;
const afterFailureMs = 250;
/** Between two looks at all of an environment, at least so many times what the last took. */
const restFactor = 10;
const minRestMs = 50;

/**
 * The runs that somebody watches. However many watch a run, it is read once a change; however many runs are watched, one statement
 * reads those of a moment. Runs that nobody watches cost nothing.
 */
export function followRuns(sql: Sql, { pollMs = 2_000, watch }: FollowOptions = {}): Followed {
  const byEnv = new Map<number, Map<string, Entry>>();
  const watches = new Map<number, (() => void) | undefined>();
  const due = new Set<Entry>();
  const wholeEnvs = new Set<number>();
  let wholeTimer: NodeJS.Timeout | undefined;
  let restMs = minRestMs;
  let reading = false;
  let stopped = false;
  let size = 0;
  let reads = 0;

  const ask = (entry: Entry): void => {
    due.add(entry);
    if (!reading) {
      reading = true;
      setImmediate(() => void read());
    }
  };

  const read = async (): Promise<void> => {
    while (due.size > 0 && !stopped) {
      const entries = [...due].slice(0, maxRead);
      const waiting = entries.map((entry) => {
        due.delete(entry);
        const fresh = entry.fresh;
        entry.fresh = new Set();
        return fresh;
      });
      // Whoever is fresh wants the row even if others have it already.
      const asked = entries.map((entry, at) =>
        (waiting[at]?.size ?? 0) > 0
          ? { env: entry.env, id: entry.id, digest: undefined }
          : { env: entry.env, id: entry.id, digest: entry.digest },
      );
      try {
        reads++;
        const rows = await readChanged(sql, asked);
        entries.forEach((entry, at) => {
          const row = rows.get(at);
          if (row !== undefined) tell(entry, row, waiting[at] ?? new Set());
        });
      } catch {
        // PostgreSQL is away. Nothing of what was asked is forgotten.
        entries.forEach((entry, at) => {
          for (const told of waiting[at] ?? []) if (entry.told.has(told)) entry.fresh.add(told);
          if (entry.told.size > 0) due.add(entry);
        });
        await new Promise((resolve) => setTimeout(resolve, afterFailureMs));
      }
    }
    reading = false;
  };

  const tell = (entry: Entry, row: ShownRun | null, fresh: ReadonlySet<Told>): void => {
    const changed = row === null || row.digest !== entry.digest;
    entry.digest = row?.digest;
    entry.over = row === null || isFinal(row.status);
    // Who is told may stop, or others come.
    for (const told of Array.from(entry.told)) {
      if (entry.told.has(told) && !entry.fresh.has(told) && (changed || fresh.has(told))) told(row);
    }
  };

  const lookAtAll = (env: number): void => {
    wholeEnvs.add(env);
    wholeTimer ??= setTimeout(async () => {
      wholeTimer = undefined;
      const began = performance.now();
      for (const one of wholeEnvs) for (const entry of byEnv.get(one)?.values() ?? []) ask(entry);
      wholeEnvs.clear();
      while (reading && !stopped) await new Promise((resolve) => setTimeout(resolve, 5));
      restMs = Math.max(minRestMs, (performance.now() - began) * restFactor);
    }, restMs);
  };

  const poll = setInterval(() => {
    for (const entries of byEnv.values()) for (const entry of entries.values()) if (!entry.over) ask(entry);
  }, pollMs);
  poll.unref();

  return {
    follow(env, id, told) {
      let entries = byEnv.get(env);
      if (!entries) {
        byEnv.set(env, (entries = new Map()));
        watches.set(env, watch?.(env));
      }
      let entry = entries.get(id);
      if (!entry) {
        entry = { env, id, digest: undefined, over: false, told: new Set(), fresh: new Set() };
        entries.set(id, entry);
        size++;
      }
      entry.told.add(told);
      entry.fresh.add(told);
      ask(entry);
      const followed = entry;
      return () => {
        followed.told.delete(told);
        followed.fresh.delete(told);
        if (followed.told.size > 0 || byEnv.get(env)?.get(id) !== followed) return;
        byEnv.get(env)?.delete(id);
        if (byEnv.get(env)?.size === 0) {
          byEnv.delete(env);
          watches.get(env)?.();
          watches.delete(env);
        }
        due.delete(followed);
        size--;
      };
    },
    look(env, runs) {
      const entries = byEnv.get(env);
      if (!entries) return;
      for (const id of runs) {
        const entry = entries.get(id);
        if (entry) ask(entry);
      }
    },
    lookAtAll(env) {
      if (byEnv.has(env)) lookAtAll(env);
    },
    get size() {
      return size;
    },
    get reads() {
      return reads;
    },
    stop() {
      stopped = true;
      clearInterval(poll);
      clearTimeout(wholeTimer);
    },
  };
}
