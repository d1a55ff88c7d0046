import { currentClient } from '../client/current-client.ts';
import { withinAttempt } from '../run-scope.ts';
import { ownFence, ownRunId, type OfRun } from '../runs/own-run.ts';

/**
 * Adds tags to the run that calls, or to another. A run has at most ten, of at most 128 characters each; one that it has already
 * is no change. Throws an UnprocessableEntityError when there would be more.
 *
 * @example
 * await tags.add(['user:42', 'urgent']);
 * await tags.add('seen', { run: handle });
 */
async function add(names: string | string[], options: OfRun = {}): Promise<void> {
  const runId = ownRunId(options);
  const body = { tags: names, fence: ownFence(runId) };
  const client = currentClient();
  await withinAttempt(() => client.call('addRunTags', { params: { runId }, body }));
}

/** Tags of runs: words to find runs by. */
export const tags = { add };
