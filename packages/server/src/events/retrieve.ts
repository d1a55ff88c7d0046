import type { EventResponse } from '@millrace/contract';
import type { RunStatus } from '@millrace/contract';
import type { Queryable } from '../db/connect.ts';
import { isStorable } from '../db/storable.ts';
import { responseObject } from '../json/response.ts';
import { notFound } from '../problem.ts';
import { relatedColumns, whereabouts } from '../runs/retrieve/retrieve.ts';
import { summaryOf, type EventRow } from './row.ts';

/** 404 unless the environment has the event. */
export async function findEvent(sql: Queryable, env: number, id: string): Promise<EventRow> {
  const [row] = isStorable(id)
    ? await sql<EventRow[]>`select * from events where env = ${env} and id = ${id}`
    : [];
  if (!row) throw notFound('Event not found');
  return row;
}

/** An event with its runs in their current state. */
export async function retrieveEvent(sql: Queryable, env: number, id: string): Promise<EventResponse> {
  const row = await findEvent(sql, env, id);
  const runs =
    row.run_ids.length === 0
      ? []
      : await sql<{ id: string; task: string; status: RunStatus }[]>`
          select ${relatedColumns(sql)} from runs f ${whereabouts(sql)}
           where f.env = ${env} and f.id = any(${[...row.run_ids]}::text[]) order by f.id`;
  return {
    ...summaryOf(row),
    event: responseObject(row.event),
    runs: runs.map((run) => ({ id: run.id, taskIdentifier: run.task, status: run.status })),
  };
}
