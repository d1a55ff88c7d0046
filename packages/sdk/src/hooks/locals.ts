import { currentRun } from '../run-scope.ts';

/** The typed key of a value in an attempt. */
export interface LocalKey<T> {
  readonly id: string;
  /** Exists only for the type. */
  readonly value?: T;
}

function store(): Map<string, unknown> {
  const locals = currentRun()?.locals;
  if (locals) return locals;
  throw new Error('locals belong to an attempt: this call is outside a run.');
}

/**
 * Values that middleware and hooks pass to `run`, and `run` to the functions it calls. Each attempt has its own.
 *
 * @example
 * const db = locals.create<Client>('db');
 * tasks.middleware(async ({ next }) => {
 *   const client = locals.set(db, await connect());
 *   try { await next(); } finally { await client.end(); }
 * });
 * // in a task: locals.getOrThrow(db).query('…')
 */
export const locals = {
  /** Creates a key. Two keys with the same id are equal. */
  create: <T>(id: string): LocalKey<T> => ({ id }),
  /** Stores a value and returns it. Throws outside of runs. */
  set<T>(key: LocalKey<T>, value: T): T {
    store().set(key.id, value);
    return value;
  },
  /** The value, or undefined. */
  get: <T>(key: LocalKey<T>): T | undefined => currentRun()?.locals?.get(key.id) as T | undefined,
  /** The value. Throws when none was set. */
  getOrThrow<T>(key: LocalKey<T>): T {
    const found = store();
    if (found.has(key.id)) return found.get(key.id) as T;
    throw new Error(`The local "${key.id}" was not set in this attempt.`);
  },
};
