import { currentClient } from '../client/current-client.ts';
import { withinAttempt } from '../run-scope.ts';
import { ownFence, ownRunId, type OfRun } from '../runs/own-run.ts';

/**
 * Adds tags to the calling run, or to another. A run has at most ten, of at most 128 characters each; existing tags are ignored. Throws an
 * UnprocessableEntityError beyond ten tags.
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

/** Tags of runs, by which runs can be found. */
export const tags = { add };
