import { background } from '../background.ts';
import type { Wakes } from '../db/wake.ts';

/** How often a process announces the environments whose lines it follows, and how long an announcement is valid. */
const announceMs = 5_000;
const expiryMs = 3 * announceMs;

/** Notifies followers that lines of their environment were stored, in this process or another. */
export interface LineNews {
  /** Lines of this environment were stored by this process. Without followers it costs a lookup. */
  stored(env: number): void;
  /** Calls back when lines may have been stored, until the returned function is called. */
  follow(env: number, wake: () => void): () => void;
  stop(): void;
}

export function createLineNews(wakes: Wakes): LineNews {
  const followers = new Map<number, Set<() => void>>();
  const elsewhere = new Map<number, number>();
  const wakeHere = (env: number): void => {
    for (const wake of followers.get(env) ?? []) wake();
  };
  wakes.listen((wake) => {
    if (wake.kind === 'followsLines') elsewhere.set(wake.env, performance.now() + expiryMs);
    if (wake.kind === 'lines') wakeHere(wake.env);
  });
  const stop = background(announceMs, () => {
    for (const env of followers.keys()) wakes.notify({ kind: 'followsLines', env });
  });
  return {
    stored(env) {
      wakeHere(env);
      const until = elsewhere.get(env);
      if (until === undefined) return;
      if (until > performance.now()) wakes.notify({ kind: 'lines', env });
      else elsewhere.delete(env);
    },
    follow(env, wake) {
      const others = followers.get(env);
      if (others) others.add(wake);
      else {
        followers.set(env, new Set([wake]));
        wakes.notify({ kind: 'followsLines', env });
      }
      return () => {
        const left = followers.get(env);
        left?.delete(wake);
        if (left?.size === 0) followers.delete(env);
      };
    },
    stop,
  };
}
