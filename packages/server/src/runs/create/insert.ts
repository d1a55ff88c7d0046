import { raw } from 'sql-template-tag';
import type { Clock } from '../../db/clock.ts';
import { column } from '../../db/columns.ts';
import type { Queryable } from '../../db/connect.ts';
import type { Offer } from '../dispatch/dispatch.ts';
import { partMetaOf, partOf } from './collect.ts';
import { debounceData } from './debounce.ts';
import { namedArraysOf, namesOf, writtenOf } from './parameters.ts';
import { columns, facetsOf, type Column, type NewRun } from './row.ts';

export interface InsertedRow {
  /** Which of the runs it is about, counted from 1. */
  readonly ix: number;
  /** The run that the trigger leads to: the new one, or one that exists. Empty for a refused trigger. */
  readonly run_id: string;
  /** An idempotency key or a singleton key led to another run. */
  readonly cached: boolean;
  /** Of its lease. */
  readonly fence: string | null;
  readonly root_id: string | null;
  /** Why it was not created: because of its parent, or a limit (`exceededLimit`). */
  readonly refused: string | null;
}

/** What decides about a run and is not stored with it. */
const decidingColumns = {
  state: { name: 'state', type: 'text', value: (run) => run.state },
  expiresAt: { name: 'expires_at', type: 'timestamptz', value: (run) => run.expiresAt },
  parentFence: { name: 'parent_fence', type: 'bigint', value: (run) => run.parentFence },
  idempotencyExpiresAt: {
    name: 'idempotency_expires_at',
    type: 'timestamptz',
    value: (run) => run.idempotencyExpiresAt,
  },
  debounceMaxMs: { name: 'debounce_max_ms', type: 'bigint', value: (run) => run.debounce?.maxMs },
  limitKey: { name: 'limit_key', type: 'text', value: (run) => run.triggerLimit?.key },
  limitBurst: { name: 'limit_burst', type: 'int', value: (run) => run.triggerLimit?.burst },
  limitSpan: { name: 'limit_span', type: 'bigint', value: (run) => run.triggerLimit?.span },
  limitDrops: { name: 'limit_drops', type: 'boolean', value: (run) => run.triggerLimit?.drops },
  singletonConflict: {
    name: 'singleton_conflict',
    type: 'text',
    value: (run) => run.singleton?.onConflict,
  },
  debounceData: { name: 'debounce_data', type: 'jsonb', value: debounceData },
  collectLane: { name: 'collect_lane', type: 'text', value: (run) => run.collection?.lane },
  collectMax: { name: 'collect_max', type: 'int', value: (run) => run.collection?.maxSize },
  collectMs: { name: 'collect_ms', type: 'bigint', value: (run) => run.collection?.maxWaitMs },
  part: { name: 'part', type: 'text', value: (run) => run.collection && partOf(run) },
  partMeta: { name: 'part_meta', type: 'jsonb', value: (run) => run.collection && partMetaOf(run) },
} satisfies Record<string, Column>;

const given = namedArraysOf({ ...columns, ...decidingColumns });
const names = namesOf(columns);
const written = writtenOf(columns);
/** As they were given, but for the place in a tree of runs, which is looked up. */
const identified = raw(
  Object.values(columns)
    .map(
      ({ name }) =>
        ({ root_id: 'd.root_ids', depth: 'd.depths', parent_id: 'd.parents' })[name] ?? `g.${name}`,
    )
    .join(', '),
);

interface InsertOptions {
  /** For each run, the runner of this process that it may be leased to at once. */
  readonly offers?: readonly (Pick<Offer, 'runner' | 'version'> | undefined)[];
  /**
   * Whether a request may have been sent before. With false, the statement fails (`runs_by_request`) where one was. Default true.
   */
  readonly findRequests?: boolean;
  /** Whether the caller counts what was created. By default the statement does, so that a transaction counts only what it commits. */
  readonly isCounted?: boolean;
}

/**
 * The general way to create runs: one statement for any number of them, alone or in a transaction of the caller's. It finds the run that each
 * trigger leads to, inserts the runs that are new, and puts them where they wait.
 */
export function insertRuns(
  { sql, clock }: { readonly sql: Queryable; readonly clock: Pick<Clock, 'now'> },
  runs: readonly NewRun[],
  { offers = [], findRequests = true, isCounted = false }: InsertOptions = {},
): Promise<InsertedRow[]> {
  const at = new Date(clock.now());
  const mayExist = (run: NewRun): boolean =>
    run.idempotencyKey !== null ||
    run.parentId !== null ||
    run.debounce !== undefined ||
    run.singleton !== undefined ||
    run.collection !== undefined ||
    run.triggerLimit !== undefined ||
    (findRequests && run.requestKey !== undefined);
  const identify = runs.some(mayExist)
    ? sql`
      select d.* from given g cross join lateral identify_runs(
        ${at}::timestamptz, g.env, g.id, g.task, g.request_key, g.parent_id, g.parent_fence, g.root_id, g.depth, g.runner,
        g.idempotency_key, g.idempotency_expires_at, g.debounce_key, g.debounce_max_ms, g.debounce_data, g.delayed_until,
        g.singleton_key, g.singleton_conflict, g.limit_key, g.limit_burst, g.limit_span, g.limit_drops,
        g.collect_key, g.collect_lane, g.collect_max, g.collect_ms, g.part, g.part_meta) d`
    : sql`
      select g.id as run_ids, null::boolean[] as cached, g.root_id as root_ids, g.depth as depths, null::text[] as refused,
             null::timestamptz[] as dues, g.parent_id as parents from given g`;
  const count = isCounted
    ? sql``
    : sql`, counted as (
      insert into run_stat_arrivals (env, task, queue_id, what, at, n)
      select env, task, queue_id, 'triggered', ${at}::timestamptz, count(*) from inserted group by env, task, queue_id
    )`;
  // After the facets that dispatch_new_runs writes, in every transaction.
  const noted = runs.some((run) => facetsOf(run).length > 0)
    ? sql`, noted as (
      insert into run_facets (env, facet, span)
      select distinct i.env, f.facet, left(i.id, 10) from inserted i cross join lateral unnest(i.path_facets) as f (facet)
       where (select count(*) from leased) >= 0 order by 1, 2, 3
      on conflict do nothing
    )`
    : sql``;
  return sql<InsertedRow[]>`
    with given as not materialized (
      select ${given(runs)},
             ${column(offers, (offer) => offer?.runner)}::text[] as runner,
             ${column(offers, (offer) => offer?.version)}::int[] as runner_version
    ), identified as materialized (${identify}
    ), inserted as (
      insert into runs (${names}, created_at)
      select ${written}, ${at}::timestamptz
        from given g cross join identified d cross join lateral unnest(d.run_ids, ${identified}) as i (run_id, ${names})
       where i.run_id = i.id
      returning env, id, task, queue_id, path_facets
    )${count}, leased as materialized (
      select n.* from given g cross join identified d cross join lateral dispatch_new_runs(
        ${at}::timestamptz, (select count(*) from inserted), d.run_ids, g.env, g.id, g.task, g.state, g.queue_id, g.concurrency_key,
        g.version_id, g.sort_key, g.expires_at, g.delayed_until, g.tags, g.machine, g.region, g.is_test, g.schedule_id, g.runner,
        g.runner_version, d.dues) n
    )${noted}
    select i.ix::int as ix, i.run_id, coalesce(i.cached, false) as cached, l.fence, i.root_id, i.refused
      from identified d
      cross join lateral unnest(d.run_ids, d.cached, d.root_ids, d.refused) with ordinality
                           as i (run_id, cached, root_id, refused, ix)
      left join leased l on l.run_id = i.run_id`;
}
