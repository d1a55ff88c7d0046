import type { EventStatus, SentEvent } from '@millrace/contract';
import { responseObject } from '../json/response.ts';

/** An event in its stored form. */
export interface EventRow {
  readonly env: number;
  readonly id: string;
  readonly name: string | null;
  /** The event as JSON text. */
  readonly event: string;
  readonly deliver_at: Date | null;
  readonly delivered_at: Date | null;
  readonly canceled_at: Date | null;
  /** Why it could not be delivered, and never will be. */
  readonly failure: string | null;
  readonly run_ids: readonly string[];
  readonly replay_of: string | null;
  readonly created_at: Date;
  /** When its payload was erased with its runs. */
  readonly erased_at: Date | null;
}

/** An event to be stored. */
export interface NewEventRow {
  readonly env: number;
  readonly id: string;
  readonly name: string | null;
  /** The sent event with the server's additions. */
  readonly event: Readonly<Record<string, unknown>>;
  /** JSON text of `event`. */
  readonly text: string;
  /** Null for immediate delivery. */
  readonly deliverAt: Date | null;
  readonly replayOf: string | null;
}

type StatusColumns = Pick<EventRow, 'delivered_at' | 'canceled_at' | 'failure' | 'run_ids'>;

export function statusOf({ delivered_at, canceled_at, failure, run_ids }: StatusColumns): EventStatus {
  if (failure !== null) return 'FAILED';
  if (canceled_at) return 'CANCELED';
  if (!delivered_at) return 'PENDING';
  return run_ids.length > 0 ? 'DELIVERED' : 'UNMATCHED';
}

export const sentOf = (row: EventRow): Pick<SentEvent, 'id' | 'event' | 'status' | 'runs'> => ({
  id: row.id,
  event: responseObject(row.event),
  status: statusOf(row),
  runs: [...row.run_ids],
});

export const summaryOf = (row: Omit<EventRow, 'env' | 'event' | 'erased_at'>) => ({
  id: row.id,
  name: row.name,
  status: statusOf(row),
  createdAt: row.created_at.toISOString(),
  deliverAt: row.deliver_at?.toISOString() ?? null,
  deliveredAt: row.delivered_at?.toISOString() ?? null,
  canceledAt: row.canceled_at?.toISOString() ?? null,
  replayOf: row.replay_of,
  ...(row.failure !== null && { failure: row.failure }),
});
