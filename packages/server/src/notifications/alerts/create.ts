import { alertQuiet, alertRules, type Alert, type Body, type Operations } from '@millrace/contract';
import { newId } from '../../db/ids.ts';
import type { Sql } from '../../db/connect.ts';
import { unprocessable } from '../../problem.ts';
import { alertOf, type AlertRow } from './alert.ts';
import { checkEndpoints, checkSettings, type AlertSettings } from './check.ts';
import type { Recorded } from './record.ts';

export const maxAlerts = 50;
const defaultMinRuns = 20;

export interface NewAlert {
  readonly env: number;
  readonly body: Body<Operations['createAlert']>;
  readonly now: Date;
}

export async function createAlert(
  sql: Sql,
  { env, body, now }: NewAlert,
  recorded: Recorded,
): Promise<Alert> {
  const { kind } = body;
  const rule = alertRules[kind];
  const settings: AlertSettings = {
    kind,
    task: body.task ?? null,
    queue: body.queue ?? null,
    owners: body.owners ?? null,
    threshold: body.threshold ?? rule.threshold.default,
    minRuns: body.minRuns ?? (kind === 'task.failureRate' ? defaultMinRuns : null),
    window: body.window ?? rule.window.default,
    endpoints: body.endpoints ?? null,
  };
  checkSettings(settings);
  const { task, queue, owners, threshold, minRuns, window, endpoints } = settings;
  return sql.begin(async (tx) => {
    await checkEndpoints(tx, env, endpoints);
    const [row] = await tx<AlertRow[]>`
      insert into alerts (id, env, kind, name, task, queue, owners, threshold, min_runs, window_s, quiet_s, endpoints, next_at, created_at)
      select ${newId('alert')}, ${env}, ${kind}, ${body.name ?? null}, ${task}, ${queue}, ${owners}::text[], ${threshold}, ${minRuns}, ${window},
             ${body.quiet ?? alertQuiet.default}, ${endpoints}::text[], ${now}, ${now}
       where (select count(*) from alerts where env = ${env}) < ${maxAlerts}
      returning *`;
    if (!row)
      throw unprocessable(
        `An environment has at most ${maxAlerts} alerts: delete one first.`,
        'limit_reached',
      );
    await recorded(tx, 'created', row);
    return alertOf(row);
  });
}
