import { BundleCache } from '../bundle-cache/index.ts';
import type { Runner, RunnerOptions, Shared } from './options.ts';
import { ServingRunner } from './serving-runner.ts';

const defaultCacheBytes = 2 * 1024 ** 3;

/**
 * Starts serving tasks: those of a project folder, once it is registered, and those of deployed versions, if it has a cache for them. Rejects
 * with a `ProjectError` or a `ProjectRefused` if the folder is not registered, a `FolderRefused` if the cache cannot be used, or an `Error` if
 * the server rejects the runner. Waits for an unresponsive server.
 */
export async function startRunner(options: RunnerOptions, shared?: Shared): Promise<Runner> {
  const cache =
    options.cache && new BundleCache(options.cache.folder, options.cache.size ?? defaultCacheBytes);
  await cache?.prepare();
  const runner = new ServingRunner(options, cache, shared);
  await runner.start();
  return runner;
}
