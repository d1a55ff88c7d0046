import type { Sql } from '../../packages/server/src/db/connect.ts';
import { newTimedId } from '../../packages/server/src/db/ids.ts';

/** Adds ended runs of the environment of a run, from the hours before, each with a line. `text` is their payload, tag and line. */
export async function addEndedRuns(
  sql: Sql,
  run: string,
  { count, text }: { readonly count: number; readonly text: string },
): Promise<void> {
  const start = Date.now() - 7_200_000;
  const ids = Array.from({ length: count }, (_, n) => newTimedId('run', start + n));
  await sql`
    insert into runs (env, id, task, status, queue_id, sort_key, created_at, finished_at, tags, payload)
    select r.env, i.id, r.task, 'COMPLETED', r.queue_id, 0, ${new Date(start)}, ${new Date(start + 60_000)}, array[${text}::text], ${JSON.stringify(text)}
      from runs r, unnest(${ids}::text[]) as i (id) where r.id = ${run}`;
  await sql`
    insert into run_facets select distinct r.env, f.facet, left(r.id, 10) from runs r
      cross join lateral (values ('tag:' || ${text}::text), ('own_queue_task:' || r.task), ('status:COMPLETED')) as f (facet)
     where r.id = any(${ids}::text[]) on conflict do nothing`;
  await sql`
    insert into run_logs (env, run_id, attempt, at, level, message)
    select r.env, r.id, 1, r.created_at, 'info', ${text} from runs r where r.id = any(${ids}::text[])`;
}
