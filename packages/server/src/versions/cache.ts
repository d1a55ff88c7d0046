const freshMs = 1_000;

export interface CachedReads<V> {
  /** The last value read. Refreshed in the background when it is older than a second. */
  get(env: number): V | Promise<V>;
  forget(env: number): void;
}

/** Caches a value for each environment. Concurrent first reads share one. `read` receives the value that it replaces. */
export function cachedReads<V>(read: (env: number, last: V | undefined) => Promise<V>): CachedReads<V> {
  const known = new Map<number, { readonly value: V; readonly at: number; refreshing: boolean }>();
  const loading = new Map<number, Promise<V>>();

  const load = (env: number): Promise<V> => {
    const current = loading.get(env);
    if (current) return current;
    const at = performance.now();
    const promise = read(env, known.get(env)?.value)
      .then((value) => {
        if (loading.get(env) === promise) known.set(env, { value, at, refreshing: false });
        return value;
      })
      .finally(() => {
        if (loading.get(env) === promise) loading.delete(env);
      });
    loading.set(env, promise);
    return promise;
  };

  return {
    get(env) {
      const entry = known.get(env);
      if (!entry) return load(env);
      if (performance.now() - entry.at > freshMs && !entry.refreshing) {
        entry.refreshing = true;
        load(env).catch(() => {
          entry.refreshing = false;
        });
      }
      return entry.value;
    },
    forget(env) {
      known.delete(env);
      loading.delete(env);
    },
  };
}
