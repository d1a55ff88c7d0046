import type { RunStatus, RateLimitResponse } from '@millrace/contract';
import type { Queryable } from '../../db/connect.ts';
import { sharedRunning } from '../../queues/find.ts';
import type { Needs } from '../dispatch/unmet-requirements.ts';
import { liveStatus, whereabouts } from '../retrieve/retrieve.ts';

/** The conditions that determine whether a run may start now. */
export interface StartConditions {
  readonly status: RunStatus;
  readonly due: Date | null;
  /** The run with the same singleton key that it waits for. */
  readonly predecessor: string | null;
  /** The key under which later triggers may push it. */
  readonly debounceKey: string | null;
  /** How many payloads it has collected, if more may arrive. */
  readonly collected: number | null;
  /** Its batch, if the batch still waits for items. */
  readonly openBatch: string | null;
  readonly task: string;
  readonly queue: string;
  readonly key: string;
  readonly queuePaused: boolean;
  /** The queue's limit for each of its keys. */
  readonly limit: number | null;
  /** The limit that its queue shares with others, and the runs that execute under it. */
  readonly shared: { readonly name: string; readonly limit: number; readonly running: number } | null;
  /** The rate limit of its queue, or of its key there. */
  readonly rate: RateLimitResponse | null;
  /** When the rate limit allows it to start, if the runs ahead in its lane start as soon as they may; null for now. */
  readonly rateUntil: Date | null;
  /** Live attempts with its queue and key. */
  readonly running: number;
  readonly installationPaused: boolean;
  readonly environmentPaused: boolean;
  readonly environmentLimit: number | null;
  readonly environmentRunning: number;
  /** The version that the run is bound to, otherwise the version it would start on. */
  readonly version: string | null;
  readonly bound: boolean;
  /** Whether it would start on the canary, which is `version`. */
  readonly canary: boolean;
  /** The id of the deployment that it waits for. */
  readonly externalId: string | null;
  /** The version that has this id but not the task. */
  readonly externalVersion: string | null;
  /** The requirements of the version for runners that fetch it; null if only runners with its folder have it. */
  readonly needs: Needs | null;
  /** Whether it was uploaded and its files have been deleted. */
  readonly archived: boolean;
  /** The newest few connected runners. */
  readonly runners: readonly RunnerProperties[];
  readonly ahead: number;
  /** The oldest few waits within its code. */
  readonly waits: readonly {
    readonly kind: 'RUN' | 'BATCH' | 'TOKEN' | 'TIME' | 'MESSAGE';
    readonly target: string | null;
    /** An ISO 8601 time. */
    readonly until: string | null;
  }[];
}

/** A connected runner, with regard to the version that a run needs. */
export interface RunnerProperties {
  readonly host: string;
  /** Null for a runner that does not fetch versions. */
  readonly platform: string | null;
  readonly nodeMajor: number | null;
  readonly labels: readonly string[];
  readonly draining: boolean;
  readonly loaded: boolean;
  /** Why it could not load the version; null if it has not tried recently. */
  readonly unable: string | null;
}

const maxRunners = 100;
const maxAhead = 1_000;
const maxWaits = 10;

export async function readStartConditions(
  sql: Queryable,
  env: number,
  run: string,
  at: Date,
): Promise<StartConditions | undefined> {
  const [conditions] = await sql<StartConditions[]>`
    select ${liveStatus(sql)} as status, nullif(d.due, 'infinity') as due,
           case when d.due = 'infinity' then (select x.previous from singletons x
             where x.env = f.env and x.task = f.task and x.key = f.singleton_key) end as predecessor, f.task, (select b.id from batches b
                            where b.env = f.env and b.id = f.batch_id and b.sealed_at is null and b.aborted_at is null) as "openBatch",
           (select x.key from debounces x
             where x.env = f.env and x.task = f.task and x.key = f.debounce_key and x.run_id = f.id) as "debounceKey",
           case when f.collect_key is not null and d.run_id is not null and not d.retry then (select max(x.position) from run_parts x
             where x.env = f.env and x.run_id = f.id) end as collected, q.name as queue, coalesce(f.concurrency_key, '') as key, q.paused as "queuePaused",
           coalesce(q.concurrency_override, q.concurrency_limit) as limit,
           (select json_build_object('name', h.name, 'limit', coalesce(h.slots_override, h.slots), 'running', ${sharedRunning(sql)})
              from shared_limits h where h.id = q.shared_limit_id) as shared,
           case when q.rate_burst is not null then coalesce(q.rate_limit_override, q.rate_limit) end as rate,
           (select n.next from queue_starts x
             cross join lateral (select rate_now() as now) c
             cross join lateral (select rate_next(x.at, x.n, q.rate_burst, q.rate_window, c.now, a.ahead + 1) as next) n
             where q.rate_burst is not null and x.queue_id = q.id
               and x.key = case when q.rate_by_key then coalesce(f.concurrency_key, '') else '' end and n.next > c.now) as "rateUntil",
           (select count(*)::int from leases x
             where x.queue_id = f.queue_id and x.key = coalesce(f.concurrency_key, '')) as running,
           exists (select from installation where paused_at is not null) as "installationPaused",
           e.paused as "environmentPaused", e.concurrency_limit as "environmentLimit",
           (select count(*)::int from leases x where x.env = f.env) as "environmentRunning",
           p.external_id as "externalId",
           (select y.version from external_ids x join versions y on y.id = x.version_id
             where x.env = f.env and x.id = p.external_id) as "externalVersion",
           nv.version, f.version_id is not null as bound,
           f.version_id is null and coalesce(nv.id = c.canary_id, false) as canary,
           case when nv.is_uploaded and nv.state = 'ready'
                then json_build_object('nodeMajor', nv.node_major, 'platforms', nv.platforms, 'requires', nv.requires) end as needs,
           nv.is_uploaded is true and nv.state = 'archived' as archived,
           coalesce((select json_agg(json_build_object('host', n.host, 'platform', n.platform, 'nodeMajor', n.node_major, 'labels', n.labels,
                                       'draining', n.draining, 'loaded', nv.id = any (n.versions), 'unable', case when (n.unable -> nv.version ->> 'until')::float8 > ${at.getTime()}::float8
                                                  then n.unable -> nv.version ->> 'why' end))
              from (select x.* from runners x where x.env = f.env and x.expires_at > ${at} and nv.id is not null
                     order by nv.id = any (x.versions) desc, x.connected_at desc limit ${maxRunners}) n), '[]') as runners,
           a.ahead,
           coalesce((select json_agg(json_build_object('kind', w.kind, 'target', w.target, 'until', w.due))
              from (select x.* from waits x where x.env = f.env and x.run_id = f.id and x.attempt = u.attempt and x.over_at is null
                     order by x.created_at, x.key limit ${maxWaits}) w), '[]') as waits
      from runs f
      join queues q on q.id = f.queue_id
      join environments e on e.id = f.env
      left join current_versions c on c.env = f.env
      cross join lateral (
        select count(*)::int as ahead from (
          select from lanes n join queued w on w.lane_id = n.id
           where n.queue_id = f.queue_id and n.key = coalesce(f.concurrency_key, '')
             and n.pinned_version = coalesce(f.version_id, 0) and (w.sort_key, w.run_id) < (f.sort_key, f.id) limit ${maxAhead}) b) a
      ${whereabouts(sql)}
      left join versions nv on nv.id = coalesce(f.version_id, case
        when p.run_id is null and canary_share(f.id) < c.canary_percent
         and exists (select from tasks x where x.version_id = c.canary_id and x.id = f.task) then c.canary_id end, c.version_id)
     where f.env = ${env} and f.id = ${run}`;
  return conditions;
}
