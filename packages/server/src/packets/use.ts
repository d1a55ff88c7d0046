import type { Queryable } from '../db/connect.ts';

/**
 * Notes that a run is about to name a packet, so that it is not let go of before. False if the environment has none of that
 * name.
 */
export async function usePacket(sql: Queryable, env: number, name: string, at: Date): Promise<boolean> {
  if (name.includes('\0')) return false;
  const rows = await sql`
    update packets set used_at = greatest(used_at, ${at}::timestamptz) where env = ${env} and name = ${name} returning id`;
  return rows.length > 0;
}
