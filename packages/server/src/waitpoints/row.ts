import type { WaitpointToken } from '@millrace/contract';
import type { MasterKey } from '../auth/seal.ts';
import { shownKey } from '../runs/create/idempotency-key.ts';
import { addressOf, type Addressed } from './callback.ts';

export interface WaitpointRow extends Addressed {
  readonly status: WaitpointToken['status'];
  readonly idempotency_key: string | null;
  readonly idempotency_expires_at: Date | null;
  readonly tags: string[] | null;
  readonly expires_at: Date | null;
  readonly created_at: Date;
  readonly completed_at: Date | null;
}

/** A token in the format of replies. */
export const tokenResponse = (masterKey: MasterKey, row: WaitpointRow, baseUrl: string): WaitpointToken => ({
  id: row.id,
  url: addressOf(masterKey, row, baseUrl),
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
