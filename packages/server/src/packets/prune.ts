import type { PacketStore } from './write.ts';

const maxAtOnce = 200;
/** Between an upload and the trigger that names it, and between a trigger's look at a packet and its run. */
const unusedMs = 24 * 3_600_000;

/**
 * The job that lets go of packets that no run names (any more), a day after they were last asked for: uploads that were given up,
 * and what belonged to runs that were pruned.
 */
export function packetPruner({ sql, clock }: PacketStore) {
  /** Where the next tick begins: packets that are in use are read once in each pass over all. */
  let place = { usedAt: new Date(0), id: '0' };
  return {
    name: 'packet pruner',
    everyMs: 60_000,
    async tick(): Promise<boolean> {
      const before = new Date(clock.now() - unusedMs);
      const looked = await sql<{ id: string; used_at: Date }[]>`
        with page as materialized (
          select id, env, name, used_at from packets
           where used_at < ${before} and (used_at, id) > (${place.usedAt}::timestamptz, ${place.id}::bigint)
           order by used_at, id limit ${maxAtOnce}
        ), gone as (
          delete from packets p using page
           where p.id = page.id and p.used_at = page.used_at
             and (page.name is null or not exists (
               select from runs r where r.env = page.env and r.payload = page.name and r.payload_type = 'application/store'
             ) and not exists (
               select from runs r where r.env = page.env and r.output = page.name and r.output_type = 'application/store'
             ))
        )
        select id, used_at from page order by used_at, id`;
      const last = looked.at(-1);
      const more = looked.length >= maxAtOnce;
      place = more && last ? { usedAt: last.used_at, id: last.id } : { usedAt: new Date(0), id: '0' };
      return more;
    },
  };
}
