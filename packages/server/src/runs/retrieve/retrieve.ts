import type { Run, RunStatus } from '@millrace/contract';
import { durationText, isFinal, statusFlags, storedType } from '@millrace/contract';
import type { SerializedError } from '@millrace/contract/runner';
import type { Fragment, Queryable } from '../../db/connect.ts';
import { responseObject } from '../../json/response.ts';
import type { Engine } from '../engine/engine.ts';
import { readData } from './data.ts';
import { shownKey, type IdempotencyKeyOptions } from '../create/idempotency-key.ts';
import { errorResponse } from './error-response.ts';
import { triggerOf, type TriggerRow } from './trigger-of.ts';

/** The fields included in every reference to a run. */
export interface RelatedRow {
  readonly id: string;
  readonly task: string;
  readonly status: RunStatus;
  readonly version: string | null;
  readonly attempt: number;
  readonly ttl: number | null;
  readonly tags: string[] | null;
  readonly metadata: string | null;
  readonly region: string | null;
  readonly description: string | null;
  readonly is_test: boolean;
  readonly idempotency_key: string | null;
  readonly idempotency_key_options: IdempotencyKeyOptions | null;
  readonly parent_id: string | null;
  readonly root_id: string | null;
  readonly batch_id: string | null;
  /** Whether a wait for its end is or was registered. */
  readonly awaited: boolean;
  /** Whether the run that created its batch waited for it. */
  readonly batch_awaited: boolean | null;
  readonly depth: number;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly delayed_until: Date | null;
  readonly started_at: Date | null;
  readonly finished_at: Date | null;
  readonly duration_ms: string;
}

interface RunRow extends RelatedRow, TriggerRow {
  readonly queue: string;
  readonly output: string | null;
  readonly output_type: string | null;
  readonly error: SerializedError | null;
  readonly env_revision: number | null;
  readonly replay_of: string | null;
  readonly erased_at: Date | null;
  /** The event as JSON text. */
  readonly event: string | null;
  /** Null if no schedule created it, or the schedule has been deleted. */
  readonly schedule: {
    readonly id: string;
    readonly externalId: string | null;
    readonly deduplicationKey: string | null;
    readonly expression: string;
    readonly description: string;
  } | null;
}

/** The URL from which the caller can read a packet of the run's environment. */
export type AddressOf = (packet: string) => string;

/**
 * A complete run with its root, parent and children; undefined if it does not exist in the environment. Its live status is derived: a lease is
 * EXECUTING, a due time DELAYED (or EXECUTING between two attempts), and so on. A suspended run is WAITING, and QUEUED once it may continue and
 * needs only a slot.
 */
export async function retrieveRun(
  engine: Engine,
  env: number,
  id: string,
  addressOf?: AddressOf,
  showsTrigger = false,
): Promise<Run | undefined> {
  const rows = await readRuns(engine, env, id);
  const row = rows.find((candidate) => candidate.id === id);
  if (!row) return undefined;
  const parent = rows.find((candidate) => candidate.id === row.parent_id);
  const root = rows.find((candidate) => candidate.id === row.root_id);
  // Ids almost always increase with time: oldest first.
  const children = rows.filter((child) => child.parent_id === id).toSorted((a, b) => (a.id < b.id ? -1 : 1));
  return {
    ...related(row),
    ...(row.idempotency_key_options && { idempotencyKey: row.idempotency_key_options.key }),
    ...(row.payload_type === storedType
      ? { payloadPresignedUrl: addressOf?.(row.payload ?? '') }
      : { payload: readData(row.payload, row.payload_type ?? 'application/json') }),
    ...(row.status === 'COMPLETED' &&
      (row.output_type === storedType
        ? { outputPresignedUrl: addressOf?.(row.output ?? '') }
        : { output: readData(row.output, row.output_type ?? 'application/json') })),
    // If the run completed, a failure of its last attempt is not the run's error.
    error:
      row.error && isFinal(row.status) && row.status !== 'COMPLETED' ? errorResponse(row.error) : undefined,
    relatedRuns: {
      root: root && related(root),
      parent: parent && related(parent),
      children: children.length > 0 ? children.map(related) : undefined,
    },
    attemptCount: row.attempt,
    queue: row.queue,
    ...(showsTrigger && { trigger: triggerOf(row) }),
    replayOf: row.replay_of ?? undefined,
    erasedAt: row.erased_at?.toISOString(),
    variablesRevision: row.env_revision ?? undefined,
    schedule: row.schedule ? scheduleOf(row.schedule) : undefined,
    event: row.event === null ? undefined : (responseObject(row.event) as Run['event']),
  };
}

export const maxChildren = 100;

function readRuns({ sql }: Engine, env: number, id: string): Promise<RunRow[]> {
  return sql<RunRow[]>`
    with self as (select * from runs where env = ${env} and id = ${id}),
    family as (
      select * from self
      union all
      select r.* from self s join runs r on r.env = ${env} and r.id in (s.parent_id, s.root_id) and r.id <> s.id
      union all
      (select r.* from runs r where r.env = ${env} and r.parent_id = ${id} order by r.id limit ${maxChildren})
    )
    select ${relatedColumns(sql)}, q.name as queue, coalesce(f.payload, cp.payload) as payload, coalesce(f.payload_type, cp.payload_type) as payload_type, f.output, f.output_type, f.error, f.env_revision, f.event, f.replay_of, f.erased_at,
           f.concurrency_key, f.priority_ms, f.machine, f.max_attempts, f.max_duration, f.singleton_key, f.collect_key,
           (select json_build_object('id', sc.id, 'externalId', sc.external_id, 'expression', sc.cron,
                     'deduplicationKey', case when sc.has_own_key then sc.deduplication_key end, 'description', sc.description)
              from schedules sc where sc.env = f.env and sc.id = f.schedule_id) as schedule
      from family f
      join queues q on q.id = f.queue_id
      left join lateral (select * from collected_payload(f.env, f.id) x where f.id = ${id} and f.collect_key is not null) cp on true
      ${whereabouts(sql)}`;
}

/** The columns of a `RelatedRow`, from a row `f` of runs joined with its `whereabouts`. */
export const relatedColumns = (sql: Queryable): Fragment => sql`
  f.id, f.task, coalesce(v.version, lv.version) as version, coalesce(l.attempt, u.attempt, f.attempt) as attempt, f.ttl, f.tags, f.metadata,
  f.region, f.description, f.is_test, f.idempotency_key, f.idempotency_key_options, f.parent_id, f.root_id, f.depth, f.batch_id, f.awaited,
  (select b.resume_parent from batches b where b.env = f.env and b.id = f.batch_id) as batch_awaited, f.created_at,
  coalesce(f.updated_at, l.leased_at, f.created_at) as updated_at, f.delayed_until,
  coalesce(f.started_at, l.leased_at) as started_at, f.finished_at, f.duration_ms, ${liveStatus(sql)} as status`;

/** The status of a row `f` of runs, from its `whereabouts`. */
export const liveStatus = (sql: Queryable): Fragment => sql`
  coalesce(f.status, case
    when l.run_id is not null then 'EXECUTING'
    when u.run_id is not null then case when u.ready_at is null then 'WAITING' else 'QUEUED' end
    when d.run_id is not null then case when d.retry then 'EXECUTING' else 'DELAYED' end
    when p.run_id is not null then 'PENDING_VERSION'
    else 'QUEUED'
  end)`;

/** The tables that a live run is in, which determine its status. Ended runs are in none and are not looked up. */
export const whereabouts = (sql: Queryable): Fragment => sql`
  left join lateral (select * from leases x where f.status is null and x.env = f.env and x.run_id = f.id limit 1) l on true
  left join lateral (select * from suspended x where f.status is null and x.env = f.env and x.run_id = f.id limit 1) u on true
  left join lateral (select * from delayed x where f.status is null and x.env = f.env and x.run_id = f.id limit 1) d on true
  left join lateral (
    select * from pending_version x where f.status is null and x.env = f.env and x.task = f.task and x.run_id = f.id limit 1) p on true
  left join versions v on v.id = f.version_id
  left join versions lv on lv.id = l.version_id`;

export function related(row: RelatedRow) {
  return {
    id: row.id,
    status: row.status,
    taskIdentifier: row.task,
    idempotencyKey: shownKey(row.idempotency_key),
    version: row.version ?? undefined,
    ...statusFlags(row.status),
    isTest: row.is_test,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    startedAt: row.started_at?.toISOString(),
    finishedAt: row.finished_at?.toISOString(),
    delayedUntil: row.delayed_until?.toISOString(),
    expiredAt: row.status === 'EXPIRED' ? row.finished_at?.toISOString() : undefined,
    ttl: row.ttl === null ? undefined : durationText(row.ttl),
    tags: (row.tags ?? []).toSorted(),
    costInCents: 0,
    baseCostInCents: 0,
    durationMs: Number(row.duration_ms),
    metadata: row.metadata === null ? undefined : responseObject(row.metadata),
    region: row.region ?? undefined,
    description: row.description ?? undefined,
    depth: row.depth,
    triggerFunction: howTriggered(row),
    batchId: row.batch_id ?? undefined,
  };
}

const howTriggered = ({ batch_id, awaited, batch_awaited }: RelatedRow): Run['triggerFunction'] => {
  if (batch_id !== null) return batch_awaited === true ? 'batchTriggerAndWait' : 'batchTrigger';
  return awaited ? 'triggerAndWait' : 'trigger';
};

const scheduleOf = ({ id, externalId, deduplicationKey, ...generator }: NonNullable<RunRow['schedule']>) => ({
  id,
  externalId: externalId ?? undefined,
  deduplicationKey: deduplicationKey ?? undefined,
  generator: { type: 'CRON' as const, ...generator },
});
