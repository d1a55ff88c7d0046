import type { Engine } from '../engine/engine.ts';

/** Ends due waits and tokens. Returns the environments in which runs may continue. */
export async function endDueWaits({ sql, clock }: Engine, limit: number): Promise<number[]> {
  const rows = await sql<
    { env: number }[]
  >`select env from end_due_waits(${new Date(clock.now())}, ${limit})`;
  return rows.map((row) => row.env);
}

/** When the next of them is due, in milliseconds since 1970. */
export async function nextDueWait({ sql }: Engine): Promise<number | undefined> {
  const [row] = await sql<{ due: Date | null }[]>`
    select least((select w.due from waits w where w.over_at is null and w.due is not null order by w.due limit 1),
                 (select t.expires_at from waitpoints t where t.status = 'WAITING' and t.expires_at is not null
                   order by t.expires_at limit 1)) as due`;
  return row?.due?.getTime();
}

/** Environments with suspended runs that are ready. */
export async function environmentsToResume({ sql }: Engine): Promise<number[]> {
  const rows = await sql<{ env: number }[]>`
    select distinct env from suspended where ready_at is not null and runner_id is not null`;
  return rows.map((row) => row.env);
}
