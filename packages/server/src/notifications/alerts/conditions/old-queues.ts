import type { Queryable } from '../../../db/connect.ts';
import type { AlertRow } from '../alert.ts';
import { spanText } from '../message.ts';
import { maxSubjects, type Subject } from '../notify-subjects.ts';

/**
 * The queues in which a run has waited longer than the alert's threshold, worst first. Read from the last sample of the installation, so
 * nothing is counted. Paused queues are excluded, because their runs wait on purpose.
 */
export async function oldQueues(tx: Queryable, { env, queue, threshold }: AlertRow): Promise<Subject[]> {
  const rows = await tx<{ queue: string; oldest: number }[]>`
    select q.queue, max(q."oldestMs") as oldest
      from fleet_sample f
      cross join lateral jsonb_to_recordset(f.sample -> 'queues') as q (env int, queue text, state text, "oldestMs" float8)
     where q.env = ${env} and q.state <> 'paused' and q."oldestMs" > ${threshold * 1_000}::float8
       and q.queue = coalesce(${queue}::text, q.queue)
     group by q.queue order by oldest desc, q.queue limit ${maxSubjects}`;
  return rows.map(({ queue: subject, oldest }) => ({
    subject,
    value: Math.round(oldest / 1_000),
    text: `Queue ${subject}: the oldest run has waited ${spanText(oldest)}`,
  }));
}
