import { background } from '../background.ts';
import { isFinal } from '@millrace/contract';
import type { Sql } from '../db/connect.ts';
import { readChanged, type RunSnapshot } from './run-snapshot.ts';

/** Called with a run at its next read, then after each change. Null if the run was deleted. */
export type RunListener = (run: RunSnapshot | null) => void;

export interface Followed {
  /** Calls `listener` with the run and its changes, until the returned function is called. */
  follow(env: number, id: string, listener: RunListener): () => void;
  /** Reads those of these runs that are followed, because they may have changed. */
  changed(env: number, runs: Iterable<string>): void;
  /** Some run of the environment changed: reads all followed runs. */
  someChanged(env: number): void;
  /** Number of followed runs. */
  readonly size: number;
  /** Number of statements sent so far. */
  readonly reads: number;
  stop(): void;
}

interface Entry {
  readonly env: number;
  readonly id: string;
  digest: string | undefined;
  hasEnded: boolean;
  readonly listeners: Set<RunListener>;
  /** Listeners added since the last read, which are called even if nothing changed. */
  fresh: Set<RunListener>;
}

export interface FollowOptions {
  /** How often unfinished runs are read although no change was announced. Default 2,000. */
  readonly pollMs?: number;
  /** Called when the first run of an environment is followed. The returned function is called when the last one is no longer followed. */
  readonly watch?: (env: number) => () => void;
}

const maxRead = 500;
const afterFailureMs = 250;
/** After reading all runs of an environment, the next read waits for at least this multiple of the time taken. */
const restFactor = 10;
const minRestMs = 50;

/**
 * Follows runs. A run is read once per change, regardless of how many listeners it has, and one statement reads all runs that are due. Runs
 * without listeners cost nothing.
 */
export function followRuns(sql: Sql, { pollMs = 2_000, watch }: FollowOptions = {}): Followed {
  const byEnv = new Map<number, Map<string, Entry>>();
  const watches = new Map<number, (() => void) | undefined>();
  const due = new Set<Entry>();
  const dueEnvs = new Set<number>();
  let allTimer: NodeJS.Timeout | undefined;
  let restMs = minRestMs;
  let reading = false;
  let stopped = false;
  let size = 0;
  let reads = 0;

  const enqueue = (entry: Entry): void => {
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
      // Fresh listeners need the row even if it is unchanged.
      const requested = entries.map((entry, index) =>
        (waiting[index]?.size ?? 0) > 0
          ? { env: entry.env, id: entry.id, digest: undefined }
          : { env: entry.env, id: entry.id, digest: entry.digest },
      );
      try {
        reads++;
        const rows = await readChanged(sql, requested);
        entries.forEach((entry, index) => {
          const row = rows.get(index);
          if (row !== undefined) notify(entry, row, waiting[index] ?? new Set());
        });
      } catch {
        // PostgreSQL is unavailable, so these runs are read again later.
        entries.forEach((entry, index) => {
          for (const listener of waiting[index] ?? [])
            if (entry.listeners.has(listener)) entry.fresh.add(listener);
          if (entry.listeners.size > 0) due.add(entry);
        });
        await new Promise((resolve) => setTimeout(resolve, afterFailureMs));
      }
    }
    reading = false;
  };

  const notify = (entry: Entry, row: RunSnapshot | null, fresh: ReadonlySet<RunListener>): void => {
    const changed = row === null || row.digest !== entry.digest;
    entry.digest = row?.digest;
    entry.hasEnded = row === null || isFinal(row.status);
    // A listener may remove itself or add others.
    for (const listener of Array.from(entry.listeners)) {
      if (!entry.listeners.has(listener) || entry.fresh.has(listener)) continue;
      if (changed || fresh.has(listener)) listener(row);
    }
  };

  const readAll = (env: number): void => {
    dueEnvs.add(env);
    allTimer ??= setTimeout(async () => {
      allTimer = undefined;
      const began = performance.now();
      for (const dueEnv of dueEnvs) for (const entry of byEnv.get(dueEnv)?.values() ?? []) enqueue(entry);
      dueEnvs.clear();
      while (reading && !stopped) await new Promise((resolve) => setTimeout(resolve, 5));
      restMs = Math.max(minRestMs, (performance.now() - began) * restFactor);
    }, restMs);
  };

  const stopPolling = background(pollMs, () => {
    for (const entries of byEnv.values())
      for (const entry of entries.values()) if (!entry.hasEnded) enqueue(entry);
  });

  return {
    follow(env, id, listener) {
      let entries = byEnv.get(env);
      if (!entries) {
        byEnv.set(env, (entries = new Map()));
        watches.set(env, watch?.(env));
      }
      let entry = entries.get(id);
      if (!entry) {
        entry = { env, id, digest: undefined, hasEnded: false, listeners: new Set(), fresh: new Set() };
        entries.set(id, entry);
        size++;
      }
      entry.listeners.add(listener);
      entry.fresh.add(listener);
      enqueue(entry);
      const followed = entry;
      return () => {
        followed.listeners.delete(listener);
        followed.fresh.delete(listener);
        if (followed.listeners.size > 0 || byEnv.get(env)?.get(id) !== followed) return;
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
    changed(env, runs) {
      const entries = byEnv.get(env);
      if (!entries) return;
      for (const id of runs) {
        const entry = entries.get(id);
        if (entry) enqueue(entry);
      }
    },
    someChanged(env) {
      if (byEnv.has(env)) readAll(env);
    },
    get size() {
      return size;
    },
    get reads() {
      return reads;
    },
    stop() {
      stopped = true;
      stopPolling();
      clearTimeout(allTimer);
    },
  };
}
