import type { ListedSession, Session, SessionTriggerConfig } from '@millrace/contract';
import { responseObject } from '../json/response.ts';

export interface SessionRow {
  readonly env: number;
  readonly id: string;
  readonly external_id: string | null;
  readonly type: string;
  readonly task: string;
  readonly trigger_config: SessionTriggerConfig;
  readonly tags: readonly string[];
  /** Metadata as JSON text. */
  readonly metadata: string | null;
  readonly run_id: string | null;
  readonly closed_at: Date | null;
  readonly closed_reason: string | null;
  readonly expires_at: Date | null;
  readonly created_at: Date;
  readonly updated_at: Date;
}

export const listedOf = (row: SessionRow): ListedSession => ({
  id: row.id,
  externalId: row.external_id,
  type: row.type,
  taskIdentifier: row.task,
  currentRunId: row.run_id,
  tags: [...row.tags],
  metadata: row.metadata === null ? null : responseObject(row.metadata),
  closedAt: row.closed_at?.toISOString() ?? null,
  closedReason: row.closed_reason,
  expiresAt: row.expires_at?.toISOString() ?? null,
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
});

export const sessionOf = (row: SessionRow): Session => ({
  ...listedOf(row),
  triggerConfig: row.trigger_config,
});
