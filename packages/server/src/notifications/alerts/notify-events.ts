import type { Queryable } from '../../db/connect.ts';
import type { AlertRow } from './alert.ts';
import { counted, isQuietOver, maxItems, sendMessage } from './message.ts';

/**
 * Reports the events that an alert has counted. All events since the last message are reported in one, if enough of them occurred within
 * the window.
 */
export async function notifyEvents(tx: Queryable, alert: AlertRow, now: Date): Promise<void> {
  if (!alert.message_pending && !(await isReached(tx, alert, now))) return;
  const { id } = alert;
  if (!isQuietOver(alert, now)) {
    if (!alert.message_pending) await tx`update alerts set message_pending = true where id = ${id}`;
    return;
  }
  const { count, since, events } = await takeEvents(tx, id);
  if (count > 0) {
    const items = events.map((properties) => ({ text: textOf(alert, properties), ...properties }));
    await sendMessage(
      tx,
      alert,
      { type: 'alert.firing', summary: summaryOf(alert, count), count, items, since },
      now,
    );
  }
  await tx`update alerts set message_pending = false, last_sent_at = ${now} where id = ${id}`;
}

async function isReached(tx: Queryable, { id, threshold, window_s }: AlertRow, now: Date): Promise<boolean> {
  if (threshold > 1) {
    await tx`
      delete from alert_events where alert_id = ${id} and at < ${new Date(now.getTime() - window_s * 1_000)}`;
  }
  const [row] = await tx<{ count: number }[]>`
    select count(*)::int as count from (select from alert_events where alert_id = ${id} limit ${threshold}::int) e`;
  return (row?.count ?? 0) >= threshold;
}

type EventProperties = Readonly<Record<string, unknown>>;

async function takeEvents(tx: Queryable, id: string) {
  const rows = await tx<{ count: number; since: Date; properties: EventProperties }[]>`
    with gone as (
      delete from alert_events where alert_id = ${id} returning id, at, properties
    )
    select t.count, t.since, g.properties
      from (select count(*)::int as count, min(at) as since from gone) t
      cross join lateral (select x.properties from gone x order by x.at, x.id limit ${maxItems}) g`;
  return {
    count: rows[0]?.count ?? 0,
    since: rows[0]?.since,
    events: rows.map(({ properties }) => properties),
  };
}

function summaryOf({ kind }: AlertRow, count: number): string {
  if (kind === 'error.new') return counted(count, 'new error group');
  if (kind === 'error.regressed') return `${counted(count, 'resolved error group')} occurred again`;
  return `Schedules missed their ticks ${count === 1 ? 'once' : `${count} times`}`;
}

const reasons: Readonly<Record<string, string>> = {
  missed: 'no server was running',
  no_task: 'the current version has no such scheduled task',
  failed: 'its run could not be created',
};

function textOf({ kind }: AlertRow, properties: EventProperties): string {
  const text = (name: string): string => String(properties[name]);
  return kind === 'schedule.missed'
    ? `Schedule ${text('id')} of the task ${text('taskIdentifier')}: no run from ${text('from')} to ${text('until')}, because ${reasons[text('reason')] ?? text('reason')}`
    : `${text('errorType')}: ${text('errorMessage')} (task ${text('taskIdentifier')}, ${text('id')})`;
}
