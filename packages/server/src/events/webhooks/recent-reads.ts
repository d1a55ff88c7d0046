import { LRUCache } from 'lru-cache';

/** A value is refreshed in the background after one second, and not used after two. */
const freshMs = 1_000;
const maxAgeMs = 2_000;

interface Entry<V> {
  readonly value: Promise<V>;
  readonly at: number;
  isRefreshing: boolean;
}

/**
 * Caches the last values read. Concurrent reads of a key share one, and frequent requests never wait for one after the first. A failed
 * read is not cached.
 */
export function recentReads<K extends string | number, V>(
  read: (key: K) => Promise<V>,
  { max }: { readonly max: number },
): (key: K) => Promise<V> {
  const known = new LRUCache<K, Entry<V>>({ max });

  function load(key: K): Promise<V> {
    const entry = { value: read(key), at: performance.now(), isRefreshing: false };
    known.set(key, entry);
    entry.value.catch(() => {
      if (known.peek(key) === entry) known.delete(key);
    });
    return entry.value;
  }

  function refresh(key: K, entry: Entry<V>): void {
    entry.isRefreshing = true;
    const at = performance.now();
    read(key).then(
      (value) => void known.set(key, { value: Promise.resolve(value), at, isRefreshing: false }),
      // The next request reads again, and reports the error.
      () => void known.delete(key),
    );
  }

  return (key) => {
    const entry = known.get(key);
    const age = entry ? performance.now() - entry.at : Infinity;
    if (!entry || age > maxAgeMs) return load(key);
    if (age > freshMs && !entry.isRefreshing) refresh(key, entry);
    return entry.value;
  };
}
