import { durationText, type Alert, type AlertKind } from '@millrace/contract';
import type { Queryable } from '../../db/connect.ts';
import { notFound } from '../../problem.ts';

export interface AlertRow {
  readonly id: string;
  readonly env: number;
  readonly kind: AlertKind;
  readonly name: string | null;
  readonly task: string | null;
  readonly queue: string | null;
  readonly owners: readonly string[] | null;
  readonly threshold: number;
  readonly min_runs: number | null;
  readonly window_s: number;
  readonly quiet_s: number;
  readonly endpoints: readonly string[] | null;
  readonly enabled: boolean;
  readonly firing_since: Date | null;
  readonly last_sent_at: Date | null;
  readonly message_pending: boolean;
  readonly created_at: Date;
}

export const alertNotFound = () => notFound('Alert not found');

/** 404 unless the environment has the alert. */
export async function findAlert(sql: Queryable, env: number, id: string): Promise<AlertRow> {
  const [row] = id.includes('\0')
    ? []
    : await sql<AlertRow[]>`select * from alerts where env = ${env} and id = ${id}`;
  if (!row) throw alertNotFound();
  return row;
}

export const alertOf = (row: AlertRow): Alert => ({
  id: row.id,
  kind: row.kind,
  name: row.name,
  task: row.task,
  queue: row.queue,
  owners: row.owners && [...row.owners],
  threshold: row.threshold,
  minRuns: row.min_runs,
  window: durationText(row.window_s),
  quiet: durationText(row.quiet_s),
  endpoints: row.endpoints && [...row.endpoints],
  enabled: row.enabled,
  state: row.firing_since ? 'FIRING' : 'OK',
  firingSince: row.firing_since?.toISOString() ?? null,
  lastSentAt: row.last_sent_at?.toISOString() ?? null,
  createdAt: row.created_at.toISOString(),
});
