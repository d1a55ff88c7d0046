import type { Queryable } from '../db/connect.ts';

/**
 * Marks a packet as used by a run that is about to be created, so that it is not deleted first. False if the environment has no such
 * packet.
 */
export async function usePacket(sql: Queryable, env: number, name: string, at: Date): Promise<boolean> {
  if (name.includes('\0')) return false;
  const rows = await sql`
    update packets set used_at = greatest(used_at, ${at}::timestamptz) where env = ${env} and name = ${name} returning id`;
  return rows.length > 0;
}
