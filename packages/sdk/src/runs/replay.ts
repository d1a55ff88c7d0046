import type { ApiClient } from '../client/api-client.ts';
import { currentClient } from '../client/current-client.ts';
import { encode } from '../payload/encode.ts';
import { codecOf } from '../sealing/codec.ts';
import { sealText } from '../sealing/values.ts';
import { isLarge, storedType, storePayload } from '../packets/packets.ts';
import { runId, type RunReference } from './run.ts';

/** Differences between a replay and its original run. */
export interface ReplayOptions {
  /** A payload that replaces the original one. */
  payload?: unknown;
  /**
   * The name of a step, such as `charge` or `charge#2`: the results of steps that ended before it are reused; this step and all others are
   * executed. See docs/steps.md.
   */
  fromStep?: string;
}

/**
 * Starts a new run of the same task on the current version, with the payload, queue, concurrency key, machine and tags of an old run, which may
 * be in any state. Throws a NotFoundError for an unknown run.
 *
 * @example
 * const { id } = await runs.replay('run_…');
 * await runs.replay(handle, { payload: { to: 'ada@example.com' } });
 * await runs.replay(handle, { fromStep: 'charge' });
 */
export async function replay(
  run: RunReference,
  { payload, fromStep }: ReplayOptions = {},
): Promise<{ readonly id: string }> {
  const params = { runId: runId(run) };
  const from = fromStep === undefined ? {} : { fromStep };
  if (payload === undefined) {
    return currentClient().call('replayRun', { params, ...(fromStep !== undefined && { body: from }) });
  }
  const client = currentClient();
  const encoded = encode(payload, 'payload');
  const codec = encoded.text === undefined ? undefined : codecOf(client);
  const { text, type }: { readonly text: string | undefined; readonly type: string } =
    codec && encoded.text !== undefined
      ? await sealText(codec, { ...encoded, text: encoded.text }, await purposeOf(client, params))
      : encoded;
  if (text !== undefined && isLarge(text)) {
    const body = { payload: await storePayload(client, { text, type }), payloadType: storedType, ...from };
    return client.call('replayRun', { params, body });
  }
  // JSON is sent as the value itself; other types are sent as a string.
  const body = { payload: type === 'application/json' ? payload : text, payloadType: type, ...from };
  return client.call('replayRun', { params, body });
}

/** A payload is sealed for a task, which is that of the old run. */
async function purposeOf(client: ApiClient, params: { readonly runId: string }): Promise<string> {
  const { taskIdentifier } = await client.call('retrieveRun', { params });
  return `payload ${taskIdentifier}`;
}
