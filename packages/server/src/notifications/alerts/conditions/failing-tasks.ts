import { durationText } from '@millrace/contract';
import type { Queryable } from '../../../db/connect.ts';
import { seriesName } from '../../../telemetry/stats/series.ts';
import type { AlertRow } from '../alert.ts';
import { maxSubjects, type Subject } from '../notify-subjects.ts';

/**
 * The tasks whose share of failed runs exceeds the alert's threshold, worst first. Read from the per-minute roll-ups, so the cost depends
 * on the number of tasks rather than runs.
 */
export async function failingTasks(
  tx: Queryable,
  { env, task, owners, threshold, min_runs, window_s }: AlertRow,
  now: Date,
): Promise<Subject[]> {
  const from = new Date(Math.floor((now.getTime() - window_s * 1_000) / 60_000) * 60_000);
  const ofTask =
    task === null ? tx`s.series like ${seriesName.task('%')}` : tx`s.series = ${seriesName.task(task)}`;
  const rows = await tx<{ task: string; failed: number; ended: number }[]>`
    select * from (
      select substr(s.series, 3) as task, sum(s.failed + s.crashed + s.system_failure + s.timed_out)::float8 as failed,
             sum(s.completed + s.failed + s.crashed + s.system_failure + s.timed_out)::float8 as ended
        from run_stats s
       where s.env = ${env} and s.width = 1 and ${ofTask} and s.at >= ${from}
       group by s.series) t
     where (${owners}::text[] is null or lower(task_owner(${env}, t.task)) = any (select lower(o) from unnest(${owners}::text[]) o))
       and t.ended >= ${min_runs ?? 1} and t.failed * 100 > t.ended * ${threshold}::float8
     order by t.failed / t.ended desc, t.task limit ${maxSubjects}`;
  return rows.map(({ task: subject, failed, ended }) => {
    const value = Math.round((failed / ended) * 1_000) / 10;
    return {
      subject,
      value,
      text: `Task ${subject}: ${value} % of ${ended} runs failed within ${durationText(window_s)}`,
    };
  });
}
