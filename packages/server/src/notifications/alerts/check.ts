import { alertRules, durationText, type AlertKind } from '@millrace/contract';
import type { Queryable } from '../../db/connect.ts';
import { isStorable } from '../../db/storable.ts';
import { badRequest, unprocessable } from '../../problem.ts';

/** The settings of an alert. Times are in seconds. */
export interface AlertSettings {
  readonly kind: AlertKind;
  readonly task: string | null;
  readonly queue: string | null;
  readonly owners: readonly string[] | null;
  readonly threshold: number;
  readonly minRuns: number | null;
  readonly window: number;
  readonly endpoints: readonly string[] | null;
}

/** 400 for settings that this kind of alert does not have, or that exceed its limits. */
export function checkSettings({
  kind,
  task,
  queue,
  owners,
  threshold,
  minRuns,
  window,
}: AlertSettings): void {
  const rule = alertRules[kind];
  if (task !== null && rule.of !== 'task')
    throw badRequest(`task: not allowed for an alert of the kind ${kind}.`);
  if (owners !== null && rule.of !== 'task')
    throw badRequest(`owners: not allowed for an alert of the kind ${kind}.`);
  if (queue !== null && rule.of !== 'queue')
    throw badRequest(`queue: not allowed for an alert of the kind ${kind}.`);
  if (minRuns !== null && kind !== 'task.failureRate')
    throw badRequest(`minRuns: not allowed for an alert of the kind ${kind}, only for task.failureRate.`);
  const { min, max } = rule.threshold;
  if (!(threshold >= min && threshold <= max))
    throw badRequest(`threshold: must be from ${min} to ${max} (${rule.unit}).`);
  if (threshold % 1 !== 0 && rule.unit === 'error groups')
    throw badRequest(`threshold: must be a whole number (${rule.unit}).`);
  if (window < rule.window.min || window > rule.window.max)
    throw badRequest(
      `window: must be from ${durationText(rule.window.min)} to ${durationText(rule.window.max)} for ${kind}.`,
    );
}

/** 422 for an endpoint that the environment does not have. */
export async function checkEndpoints(
  sql: Queryable,
  env: number,
  ids: readonly string[] | null,
): Promise<void> {
  if (ids === null) return;
  const storable = ids.filter(isStorable);
  const rows = await sql<{ id: string }[]>`
    select id from notification_endpoints where env = ${env} and id = any(${storable}::text[]) for key share`;
  const missing = ids.find((id) => !rows.some((row) => row.id === id));
  if (missing !== undefined) throw unprocessable(`endpoints: the environment has no endpoint ${missing}.`);
}
