import type { ApiClient } from './api-client.ts';

/** The part of AsyncLocalStorage that is used. */
interface Storage {
  getStore(): ApiClient | undefined;
  run<R>(client: ApiClient, act: () => R): R;
}

interface Runtime {
  readonly process?: {
    getBuiltinModule?(name: string): { readonly AsyncLocalStorage?: new () => Storage } | undefined;
  };
}

// Looked up at run time rather than imported, because this package also runs without Node.js.
const { process } = globalThis as Runtime;
const AsyncLocalStorage = process?.getBuiltinModule?.('node:async_hooks')?.AsyncLocalStorage;
const storage = AsyncLocalStorage && new AsyncLocalStorage();

/** Without such storage, the client that is in effect until its callback has ended. */
let current: ApiClient | undefined;

/** The client set for the calling part of the program, if any. */
export const overridingClient = (): ApiClient | undefined => storage?.getStore() ?? current;

/** Uses a client for the calls that `act` starts before its first await, which is when each public function reads its client. */
export function beginningWith<R>(client: ApiClient, act: () => R): R {
  if (storage) return storage.run(client, act);
  const outer = current;
  current = client;
  try {
    return act();
  } finally {
    current = outer;
  }
}

/**
 * Uses a client for the calls inside `act` until it ends. Without AsyncLocalStorage, calls inside `act` cannot be distinguished from concurrent
 * ones, so a second concurrent use is rejected.
 */
export async function throughout<R>(client: ApiClient, act: () => R | Promise<R>): Promise<R> {
  if (storage) return storage.run(client, act);
  if (current !== undefined) {
    throw new Error(
      'auth.withAuth is already active, and this runtime cannot separate the two calls: use new MillraceClient({ … }) instead.',
    );
  }
  current = client;
  try {
    return await act();
  } finally {
    current = undefined;
  }
}
