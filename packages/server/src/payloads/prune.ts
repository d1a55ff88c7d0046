import type { PacketStore } from './write.ts';

const maxAtOnce = 200;
/** Covers the time between an upload and the trigger that names it, and between that trigger's check of the packet and its run. */
const unusedMs = 24 * 3_600_000;

/** The packet of a session's snapshot is named with this prefix and the session's id. Client packets have no backslashes in their names. */
export const snapshotPrefix = 'session\\';

/**
 * The job that deletes packets that no run or step names, a day after their last use: abandoned uploads, and packets of pruned runs and
 * sessions.
 */
export function packetPruner({ sql, clock }: PacketStore) {
  /** The cursor for the next tick. Each pass over the table checks every packet once. */
  let cursor = { usedAt: new Date(0), id: '0' };
  return {
    name: 'packet pruner',
    everyMs: 60_000,
    async tick(): Promise<boolean> {
      const before = new Date(clock.now() - unusedMs);
      const page = await sql<{ id: string; used_at: Date }[]>`
        with page as materialized (
          select id, env, name, used_at from packets
           where used_at < ${before} and (used_at, id) > (${cursor.usedAt}::timestamptz, ${cursor.id}::bigint)
           order by used_at, id limit ${maxAtOnce}
        ), gone as (
          delete from packets p using page
           where p.id = page.id and p.used_at = page.used_at
             and (page.name is null or not exists (
               select from runs r where r.env = page.env and r.payload = page.name and r.payload_type = 'application/store'
             ) and not exists (
               select from runs r where r.env = page.env and r.output = page.name and r.output_type = 'application/store'
             ) and not exists (
               select from sessions s
                where s.env = page.env and s.id = substr(page.name, ${snapshotPrefix.length + 1})
                  and starts_with(page.name, ${snapshotPrefix})
              ) and not exists (
               select from run_steps s where s.env = page.env and s.output = page.name and s.output_type = 'application/store'
             ))
        )
        select id, used_at from page order by used_at, id`;
      const last = page.at(-1);
      const more = page.length >= maxAtOnce;
      cursor = more && last ? { usedAt: last.used_at, id: last.id } : { usedAt: new Date(0), id: '0' };
      return more;
    },
  };
}
