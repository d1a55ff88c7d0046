import type { TokenCompletion, TokenDetails } from '@millrace/contract';
import type { Fragment, Queryable } from '../db/connect.ts';
import type { WaitpointRow } from './row.ts';

/** A row of tokens with the columns of `detailColumns`. */
export interface DetailedRow extends WaitpointRow {
  readonly schema: string | null;
  readonly completed_by: string | null;
  readonly event: string | null;
  readonly runs:
    | readonly {
        readonly id: string;
        readonly task: string;
        readonly description: string | null;
        readonly since: string;
        readonly isWaiting: boolean;
      }[]
    | null;
}

/**
 * The runs and the event of each row of `w`, which must be few rows. It reads the latest wait of each run. The runs of a token that still
 * waits are those that wait now: a run that has stopped waiting for it does not appear.
 */
export const detailColumns = (sql: Queryable, maxRuns: number): Fragment => sql`
  (select e.name from event_waits e where e.waitpoint_id = w.id) as event,
  (select json_agg(json_build_object('id', r.id, 'task', r.task, 'description', r.description, 'since', x.created_at,
            'isWaiting', x.over_at is null and r.status is null) order by x.run_id)
     from (
       select distinct on (y.run_id) y.run_id, y.created_at, y.over_at from waits y
        where y.target = w.id and y.kind = 'TOKEN' and y.env = w.env and (w.status <> 'WAITING' or y.over_at is null)
        order by y.run_id, y.attempt desc, y.created_at desc limit ${maxRuns}
     ) x
     cross join lateral (
       -- The limit ensures a lookup, so that no plan reads all runs.
       select id, task, description, status from runs where env = w.env and id = x.run_id limit 1
     ) r) as runs`;

/** The details in the format of replies. */
export function detailsOf(row: DetailedRow, mayReadRuns: boolean): TokenDetails {
  const runs = (row.runs ?? []).filter(({ isWaiting }) => isWaiting || row.status !== 'WAITING');
  return {
    ...(mayReadRuns && {
      runs: runs.map(({ id, task, description, since, isWaiting }) => ({
        id,
        taskIdentifier: task,
        ...(description !== null && { description }),
        since: new Date(since).toISOString(),
        isWaiting,
      })),
    }),
    ...(row.event !== null && { event: row.event }),
    ...(row.schema !== null && { schema: JSON.parse(row.schema) as Record<string, unknown> }),
    ...(row.completed_by !== null && { completedBy: JSON.parse(row.completed_by) as TokenCompletion }),
  };
}
