import type { Alert, Body, Operations } from '@millrace/contract';
import type { Sql } from '../../db/connect.ts';
import { alertNotFound, alertOf, findAlert, type AlertRow } from './alert.ts';
import { checkEndpoints, checkSettings } from './check.ts';
import type { Recorded } from './record.ts';

export interface AlertChange {
  readonly env: number;
  readonly id: string;
  readonly body: Body<Operations['updateAlert']>;
  readonly now: Date;
}

/**
 * Changes the given fields. If this changes or disables the alert's condition, its previous findings are deleted, and no message about their
 * end is sent.
 */
export async function updateAlert(
  sql: Sql,
  { env, id, body, now }: AlertChange,
  recorded: Recorded,
): Promise<Alert> {
  await findAlert(sql, env, id);
  return sql.begin(async (tx) => {
    const [old] = await tx<AlertRow[]>`
      select * from alerts where env = ${env} and id = ${id} for no key update`;
    if (!old) throw alertNotFound();
    const pick = <T>(value: T | undefined, before: T): T => (value === undefined ? before : value);
    const settings = {
      kind: old.kind,
      task: pick(body.task, old.task),
      queue: pick(body.queue, old.queue),
      owners: pick<readonly string[] | null>(body.owners, old.owners),
      threshold: pick(body.threshold, old.threshold),
      minRuns: pick<number | null>(body.minRuns, old.min_runs),
      window: pick(body.window, old.window_s),
      endpoints: pick<readonly string[] | null>(body.endpoints, old.endpoints),
    };
    checkSettings(settings);
    await checkEndpoints(tx, env, body.endpoints ?? null);
    const { task, queue, owners, threshold, minRuns, window, endpoints } = settings;
    const enabled = pick(body.enabled, old.enabled);
    const isOther = !enabled || task !== old.task || queue !== old.queue || `${owners}` !== `${old.owners}`;
    if (isOther) {
      await tx`delete from alert_subjects where alert_id = ${id}`;
      await tx`delete from alert_events where alert_id = ${id}`;
    }
    const [row] = await tx<AlertRow[]>`
      update alerts set
        name = ${pick(body.name, old.name)}, task = ${task}, queue = ${queue}, owners = ${owners}::text[], threshold = ${threshold}, min_runs = ${minRuns},
        window_s = ${window}, quiet_s = ${pick(body.quiet, old.quiet_s)}, endpoints = ${endpoints}::text[], enabled = ${enabled},
        next_at = ${now}, firing_since = case when ${isOther} then null else firing_since end,
        message_pending = message_pending and not ${isOther}
       where id = ${id} returning *`;
    if (!row) throw alertNotFound();
    await recorded(tx, 'updated', row, old);
    return alertOf(row);
  });
}
