import type { Run } from '@millrace/contract';
import { storedType } from '@millrace/contract';
import { shownKey, type IdempotencyKeyOptions } from '../create/idempotency-key.ts';

export interface TriggerRow {
  readonly payload: string | null;
  readonly payload_type: string | null;
  readonly concurrency_key: string | null;
  readonly priority_ms: number;
  readonly machine: string | null;
  readonly max_attempts: number | null;
  readonly max_duration: number | null;
  readonly singleton_key: string | null;
  readonly collect_key: string | null;
  readonly idempotency_key: string | null;
  readonly idempotency_key_options: IdempotencyKeyOptions | null;
}

/** Trigger options that the run itself does not include, in the trigger format. */
export const triggerOf = (row: TriggerRow): Run['trigger'] => ({
  // A stored payload contains its type.
  ...(row.payload_type !== null && row.payload_type !== storedType && { payloadType: row.payload_type }),
  ...(row.payload_type === 'application/super+json' && row.payload !== null && { payloadText: row.payload }),
  ...(row.concurrency_key !== null && row.concurrency_key !== '' && { concurrencyKey: row.concurrency_key }),
  ...(row.priority_ms !== 0 && { priority: row.priority_ms / 1_000 }),
  ...(row.machine !== null && { machine: row.machine }),
  ...(row.max_attempts !== null && { maxAttempts: row.max_attempts }),
  ...(row.max_duration !== null && { maxDuration: row.max_duration }),
  ...(row.collect_key !== null && { batchKey: row.collect_key }),
  ...(row.singleton_key !== null && {
    singleton: row.singleton_key === '' ? {} : { key: row.singleton_key },
  }),
  ...(shownKey(row.idempotency_key) !== undefined && { idempotencyKey: shownKey(row.idempotency_key) }),
  ...(row.idempotency_key_options && { idempotencyKeyOptions: row.idempotency_key_options }),
});
