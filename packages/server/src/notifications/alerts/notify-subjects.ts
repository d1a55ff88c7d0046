import { durationText } from '@millrace/contract';
import type { Queryable } from '../../db/connect.ts';
import type { AlertRow } from './alert.ts';
import { counted, isQuietOver, maxItems, sendMessage, spanText } from './message.ts';

/** A subject for which a condition holds, such as a queue. */
export interface Subject {
  /** A task, a queue or a version. */
  readonly subject: string;
  /** In the unit of the threshold. */
  readonly value: number;
  readonly text: string;
}

/** Maximum subjects that an alert distinguishes; if there are more, only the worst are used. */
export const maxSubjects = 100;

interface SubjectRow {
  readonly subject: string;
  readonly since: Date;
  readonly notified: boolean;
  readonly cleared_at: Date | null;
}

/**
 * Reports once when the condition of an alert holds, and once when it no longer holds for any subject. It must hold, or not hold, for the
 * window. Subjects that appear within the quiet period are included in the message at its end.
 */
export async function notifySubjects(
  tx: Queryable,
  alert: AlertRow,
  subjects: readonly Subject[],
  now: Date,
): Promise<void> {
  const { id, firing_since: firing, window_s } = alert;
  const rows = await storeSubjects(tx, alert, subjects, now);
  const isLong = (since: Date): boolean => since > now || now.getTime() - since.getTime() >= window_s * 1_000;
  const fresh = rows.filter((row) => !row.notified && isLong(row.since));
  if (fresh.length > 0 && isQuietOver(alert, now)) {
    const names = new Set(fresh.map(({ subject }) => subject));
    const reported = subjects.filter(({ subject }) => names.has(subject));
    await sendMessage(
      tx,
      alert,
      {
        type: 'alert.firing',
        summary: firingSummary(alert, reported.length),
        count: reported.length,
        items: reported.slice(0, maxItems),
        since: rows.reduce((first, { since }) => (since < first ? since : first), now),
      },
      now,
    );
    await tx`update alert_subjects set notified = true where alert_id = ${id} and subject = any(${[...names]}::text[])`;
    await tx`
      update alerts set firing_since = coalesce(firing_since, ${now}), last_sent_at = ${now} where id = ${id}`;
    return;
  }
  const notified = rows.filter((row) => row.notified);
  if (!firing || notified.some(({ cleared_at: cleared }) => cleared === null || !isLong(cleared))) return;
  await sendMessage(
    tx,
    alert,
    {
      type: 'alert.resolved',
      summary: `Resolved after ${spanText(now.getTime() - firing.getTime())}: ${resolvedSummary(alert)}`,
      count: notified.length,
      items: notified.slice(0, maxItems).map(({ subject }) => ({ subject, text: labelOf(alert, subject) })),
      since: firing,
    },
    now,
  );
  await tx`delete from alert_subjects where alert_id = ${id} and notified`;
  await tx`update alerts set firing_since = null where id = ${id}`;
}

/** Stores the subjects for which the condition holds now, and those for which it no longer does. Returns all stored subjects. */
async function storeSubjects(
  tx: Queryable,
  { id, env }: AlertRow,
  subjects: readonly Subject[],
  now: Date,
): Promise<SubjectRow[]> {
  const names = subjects.map(({ subject }) => subject);
  await tx`
    insert into alert_subjects as s (alert_id, subject, env, since, value)
    select ${id}, i.subject, ${env}, ${now}, i.value
      from unnest(${names}::text[], ${subjects.map(({ value }) => value)}::float8[]) as i (subject, value)
    on conflict (alert_id, subject) do update set value = excluded.value, cleared_at = null`;
  await tx`
    delete from alert_subjects where alert_id = ${id} and not notified and subject <> all (${names}::text[])`;
  await tx`
    update alert_subjects set cleared_at = ${now}
     where alert_id = ${id} and notified and cleared_at is null and subject <> all (${names}::text[])`;
  return tx<SubjectRow[]>`
    select subject, since, notified, cleared_at from alert_subjects where alert_id = ${id} order by since, subject`;
}

function firingSummary({ kind, threshold, window_s }: AlertRow, count: number): string {
  if (kind === 'queue.age')
    return `${counted(count, 'queue')} with runs that have waited for more than ${durationText(threshold)}`;
  if (kind === 'task.failureRate')
    return `${counted(count, 'task')} with more than ${threshold} % failed runs within ${durationText(window_s)}`;
  return 'Runs are waiting, and no runner can execute them';
}

function resolvedSummary({ kind, threshold }: AlertRow): string {
  if (kind === 'queue.age') return `no run has waited for more than ${durationText(threshold)}`;
  if (kind === 'task.failureRate') return `no more than ${threshold} % of runs fail`;
  return 'no run is waiting for a runner';
}

export function labelOf({ kind }: AlertRow, subject: string): string {
  if (kind === 'queue.age') return `Queue ${subject}`;
  return kind === 'task.failureRate' ? `Task ${subject}` : `Version ${subject}`;
}
