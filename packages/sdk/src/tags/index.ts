import { currentClient } from '../client/current-client.ts';
import { ownRunId, type OfRun } from '../runs/own-run.ts';

/**
 * Adds tags to the run that calls, or to another. A run has at most ten, of at most 128 characters each; one that it has already
 * is no change. Throws an UnprocessableEntityError when there would be more.
 *
 * @example
 * await tags.add(['user:42', 'urgent']);
 * await tags.add('seen', { run: handle });
 */
async function add(names: string | string[], options: OfRun = {}): Promise<void> {
  const params = { runId: ownRunId(options) };
  await currentClient().call('addRunTags', { params, body: { tags: names } });
}

/** Tags of runs: words to find runs by. */
export const tags = { add };
