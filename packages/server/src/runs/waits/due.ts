import type { Engine } from '../engine/engine.ts';

/** Ends due waits and tokens. Returns the environments in which runs may continue. */
export async function endDueWaits({ sql, clock }: Engine, limit: number): Promise<number[]> {
  const rows = await sql<
    { env: number }[]
  >`select env from end_due_waits(${new Date(clock.now())}, ${limit})`;
  return rows.map((row) => row.env);
}
