import { isFinal, storedType } from '@millrace/contract';
import { jsonOfReply } from '../json/response.ts';
import { readData } from '../runs/retrieve/data.ts';
import { shownKey } from '../runs/create/idempotency-key.ts';
import { related } from '../runs/retrieve/retrieve.ts';
import { errorResponse } from '../runs/retrieve/error-response.ts';
import type { RunSnapshot } from './run-snapshot.ts';

/** The fields of a run for columns of the shape protocol whose names differ. */
const fields: ReadonlyMap<string, readonly string[]> = new Map([
  ['delayUntil', ['delayedUntil']],
  ['completedAt', ['finishedAt']],
  ['usageDurationMs', ['durationMs']],
  ['runTags', ['tags']],
  ['payload', ['payload', 'payloadPresignedUrl']],
  ['output', ['output', 'outputPresignedUrl']],
]);

/** A run in the form of its event: as retrieved, without relations. */
export function eventRun(
  run: RunSnapshot,
  without: readonly string[],
  addressOf: (packet: string) => string,
): Record<string, unknown> {
  const response: Record<string, unknown> = {
    ...related(run),
    idempotencyKey: run.idempotency_key_options?.key ?? shownKey(run.idempotency_key),
    attemptCount: run.attempt,
    batchId: run.batch_id ?? undefined,
    streams: run.streams ?? undefined,
    ...dataOf('payload', run.payload, run.payload_type, addressOf),
    ...(run.status === 'COMPLETED' && dataOf('output', run.output, run.output_type, addressOf)),
    ...(run.error &&
      isFinal(run.status) &&
      run.status !== 'COMPLETED' && {
        error: errorResponse(run.error),
      }),
  };
  for (const column of without) for (const field of fields.get(column) ?? [column]) delete response[field];
  return response;
}

function dataOf(
  name: 'payload' | 'output',
  text: string | null,
  type: string | null,
  addressOf: (packet: string) => string,
) {
  return type === storedType
    ? { [`${name}PresignedUrl`]: addressOf(text ?? '') }
    : { [name]: readData(text, type ?? 'application/json') };
}

/** An event of the stream. Its id is the cursor from which a reconnecting client continues. */
export const runEvent = (cursor: string | undefined, run: Record<string, unknown>): string =>
  `${cursor === undefined ? '' : `id: ${cursor}\n`}event: run\ndata: ${jsonOfReply(run)}\n\n`;

export const pingEvent = (): string => ': ping\n\n';
