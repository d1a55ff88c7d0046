import type { Queryable } from '../../../db/connect.ts';
import type { AlertRow } from '../alert.ts';
import { spanText } from '../message.ts';
import { maxSubjects, type Subject } from '../notify-subjects.ts';

/** Maximum lanes of a version that are read. If no runner can execute the version, each lane has an old run after a while. */
const maxLanes = 100;

/**
 * The versions that runs wait for and that no connected runner can execute. `current` represents the runs that are not bound to a version.
 * The cost depends on the number of versions that runs wait for, not on the number of runs, queues or keys. Paused queues are excluded,
 * because their runs wait on purpose.
 */
export async function unservedVersions(
  tx: Queryable,
  { env, threshold }: AlertRow,
  now: Date,
): Promise<Subject[]> {
  const nowMs = now.getTime();
  // Each lane is read by key: if the statistics date from when the table was empty, a plan would read the whole table.
  await tx`
    select set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
           set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true)`;
  const rows = await tx<{ version: string; sort_key: string }[]>`
    with recursive pins (pin) as (
      (select (l.pinned_version + 0) from lanes l where l.env = ${env} and not l.blocked order by (l.pinned_version + 0) limit 1)
      union all
      select (select (l.pinned_version + 0) from lanes l
               where l.env = ${env} and not l.blocked and (l.pinned_version + 0) > p.pin order by (l.pinned_version + 0) limit 1)
        from pins p where p.pin is not null
    )
    select case when p.pin = 0 then 'current' else v.version end as version, w.sort_key::text
      from (select pin from pins where pin is not null limit ${maxSubjects}) p
      left join current_versions c on c.env = ${env}
      left join lateral (
        select x.* from versions x where x.id = coalesce(nullif(p.pin, 0), c.version_id) limit 1) v on true
      cross join lateral (
        select h.sort_key
          from (select l.id, l.queue_id from lanes l
                 where l.env = ${env} and not l.blocked and (l.pinned_version + 0) = p.pin order by l.turn limit ${maxLanes}) l
          cross join lateral (select q.paused from queues q where q.id = l.queue_id limit 1) q
          cross join lateral (
            select x.sort_key, r.priority_ms from queued x
              join runs r on r.env = x.env and r.id = x.run_id
             where x.lane_id = l.id order by x.sort_key, x.run_id limit 1) h
         where not q.paused and h.sort_key + h.priority_ms < ${nowMs - threshold * 1_000}::float8
         order by h.sort_key limit 1) w
     where not exists (select from environments e where e.id = ${env} and e.paused)
       and not exists (select from installation where paused_at is not null)
       and not exists (
         select from runners r
          where r.env = ${env} and r.expires_at > ${now} and not r.draining and (
            v.id = any(r.versions)
            or (v.is_uploaded and v.state = 'ready' and r.node_major >= v.node_major
                and (cardinality(v.platforms) = 0 or r.platform = any(v.platforms)) and v.requires <@ r.labels
                and coalesce((r.unable -> v.version ->> 'until')::float8, 0) <= ${nowMs})))`;
  return rows.map(({ version, sort_key }) => {
    const waitedMs = nowMs - Number(sort_key);
    const text = `${version === 'current' ? 'The current version' : `Version ${version}`}: no connected runner can execute it; the oldest run has waited ${spanText(waitedMs)}`;
    return { subject: version, value: Math.round(waitedMs / 1_000), text };
  });
}
