import { background } from '../background.ts';
import type { Wake, Wakes } from '../db/wake.ts';
import type { RunChanges } from '../runs/engine/changes.ts';

export interface ChangeListener {
  changed(env: number, runs: readonly string[]): void;
  tagged(env: number, run: string, tags: readonly string[]): void;
  /** Unspecified runs changed, in this process or another. */
  someChanged(env: number): void;
}

export interface Interest {
  readonly changes: RunChanges;
  /** Sets the listener, of which there is only one. */
  listen(listener: ChangeListener): void;
  /** Subscribes this process to changes of the environment's runs. The returned function unsubscribes it. */
  watch(env: number): () => void;
  stop(): void;
}

/** How often a process announces the environments it watches, and how long an announcement is valid. */
const announceMs = 5_000;
const expiryMs = 3 * announceMs;

/** Processes announce only the environment, and only while another process watches it. */
export function createInterest(wakes: Wakes): Interest {
  const watched = new Map<number, number>();
  const elsewhere = new Map<number, number>();
  let listener: ChangeListener | undefined;

  const notifyOthers = (env: number): void => {
    const until = elsewhere.get(env);
    if (until === undefined) return;
    if (until > performance.now()) wakes.notify({ kind: 'runs', env });
    else elsewhere.delete(env);
  };

  wakes.listen((wake: Wake) => {
    if (wake.kind === 'watching') elsewhere.set(wake.env, performance.now() + expiryMs);
    if (wake.kind === 'runs' && watched.has(wake.env)) listener?.someChanged(wake.env);
  });
  const stop = background(announceMs, () => {
    for (const env of watched.keys()) wakes.notify({ kind: 'watching', env });
  });

  return {
    changes: {
      isWatched: (env) => watched.has(env) || elsewhere.has(env),
      changed(env, runs) {
        if (watched.has(env)) listener?.changed(env, runs);
        if (elsewhere.size > 0) notifyOthers(env);
      },
      tagged(env, run, tags) {
        if (tags.length === 0) return;
        if (watched.has(env)) listener?.tagged(env, run, tags);
        if (elsewhere.size > 0) notifyOthers(env);
      },
      someChanged(env) {
        if (watched.has(env)) listener?.someChanged(env);
        if (elsewhere.size > 0) notifyOthers(env);
      },
    },
    listen: (next) => void (listener = next),
    watch(env) {
      const count = watched.get(env) ?? 0;
      watched.set(env, count + 1);
      if (count === 0) wakes.notify({ kind: 'watching', env });
      return () => {
        const left = (watched.get(env) ?? 1) - 1;
        if (left > 0) watched.set(env, left);
        else watched.delete(env);
      };
    },
    stop,
  };
}
