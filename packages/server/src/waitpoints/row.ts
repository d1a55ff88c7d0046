import type { WaitpointToken } from '@millrace/contract';
import { shownKey } from '../runs/idempotency-key.ts';

export interface WaitpointRow {
  readonly id: string;
  readonly status: WaitpointToken['status'];
  readonly callback: string;
  readonly idempotency_key: string | null;
  readonly idempotency_expires_at: Date | null;
  readonly tags: string[] | null;
  readonly expires_at: Date | null;
  readonly created_at: Date;
  readonly completed_at: Date | null;
}

/** A token as replies show it. */
export const shown = (row: WaitpointRow, baseUrl: string): WaitpointToken => ({
  id: row.id,
  url: addressOf(row, baseUrl),
  status: row.status,
  ...(shownKey(row.idempotency_key) !== undefined && {
    idempotencyKey: shownKey(row.idempotency_key),
    idempotencyKeyExpiresAt: row.idempotency_expires_at?.toISOString(),
  }),
  timeoutAt: row.expires_at?.toISOString(),
  completedAt: row.completed_at?.toISOString(),
  tags: row.tags ?? [],
  createdAt: row.created_at.toISOString(),
});

/** Where a POST completes the token without a credential. */
export const addressOf = ({ id, callback }: Pick<WaitpointRow, 'id' | 'callback'>, baseUrl: string): string =>
  `${baseUrl}/api/v1/waitpoints/tokens/${id}/callback/${callback}`;
