import type { ApiClient } from './api-client.ts';

/** What of an AsyncLocalStorage is used. */
interface Storage {
  getStore(): ApiClient | undefined;
  run<R>(client: ApiClient, act: () => R): R;
}

interface Runtime {
  readonly process?: {
    getBuiltinModule?(name: string): { readonly AsyncLocalStorage?: new () => Storage } | undefined;
  };
}

// Asked for, not imported: this package runs where there is no Node, too.
const { process } = globalThis as Runtime;
const AsyncLocalStorage = process?.getBuiltinModule?.('node:async_hooks')?.AsyncLocalStorage;
const storage = AsyncLocalStorage && new AsyncLocalStorage();

/** Where there is no such storage: the client in force until its callback is done. */
let held: ApiClient | undefined;

/** The client that the part of the program that asks has been given, if any. */
export const overridingClient = (): ApiClient | undefined => storage?.getStore() ?? held;

/** Uses a client for the calls that `act` begins before its first await: each public function asks for its client then. */
export function beginningWith<R>(client: ApiClient, act: () => R): R {
  if (storage) return storage.run(client, act);
  const outer = held;
  held = client;
  try {
    return act();
  } finally {
    held = outer;
  }
}

/**
 * Uses a client for the calls inside `act`, to its end. Where there is no AsyncLocalStorage nobody can tell the calls inside
 * from others made meanwhile, so a second one at the same time is refused.
 */
export async function throughout<R>(client: ApiClient, act: () => R | Promise<R>): Promise<R> {
  if (storage) return storage.run(client, act);
  if (held !== undefined) {
    throw new Error(
      'auth.withAuth is under way already, and this runtime cannot keep the two apart: use new MillraceClient({ … }) instead.',
    );
  }
  held = client;
  try {
    return await act();
  } finally {
    held = undefined;
  }
}
