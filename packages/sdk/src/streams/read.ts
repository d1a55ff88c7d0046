import type { ApiClient } from '../client/api-client.ts';
import { pathOf } from '../client/path.ts';
import { followRecords, type FollowOptions } from '../sessions/follow.ts';
import { dataOf, isCommand } from '../sessions/records.ts';

/** A chunk of a stream. */
export interface StreamChunk {
  /** Its sequence number, starting at 0. */
  readonly seq: number;
  readonly chunk: unknown;
}

/** The chunks of a stream of a run, each once and in order. Ends when no chunks arrived within the time limit. */
export async function* readStreamThrough(
  client: ApiClient,
  run: string,
  stream: string,
  options: FollowOptions,
): AsyncGenerator<StreamChunk, void, undefined> {
  const path = pathOf('followRunStream', { runId: run, stream });
  for await (const record of followRecords(client, path, options))
    if (!isCommand(record)) yield { seq: record.seq, chunk: dataOf(record) };
}
