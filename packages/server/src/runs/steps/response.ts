import { storedType, type RunStep } from '@millrace/contract';
import { readData } from '../retrieve/data.ts';
import type { AddressOf } from '../retrieve/retrieve.ts';
import { errorResponse } from '../retrieve/error-response.ts';
import type { StepRow } from './read.ts';

/** A step in its readable form. */
export function stepResponse(row: StepRow, addressOf: AddressOf): RunStep {
  const { output, output_type: type } = row;
  return {
    name: row.name,
    kind: row.kind,
    status: row.status,
    attempt: row.attempt,
    tries: row.tries,
    startedAt: row.started_at.toISOString(),
    endedAt: row.ended_at.toISOString(),
    durationMs: row.ended_at.getTime() - row.started_at.getTime(),
    ...(row.detail !== null && { detail: row.detail }),
    ...(row.version !== null && { version: row.version }),
    ...(row.taken_from !== null && { takenFrom: row.taken_from }),
    ...(output !== null && type === storedType && { outputPresignedUrl: addressOf(output) }),
    ...(output !== null && type !== storedType && { output: readData(output, type ?? 'application/json') }),
    ...(row.error && { error: errorResponse(row.error) }),
  };
}
