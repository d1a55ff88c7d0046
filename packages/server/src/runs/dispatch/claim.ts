import type { Assignment } from '@millrace/contract/runner';
import type { Sql } from '../../db/connect.ts';
import type { ConnectedRunner } from '../../runners/runners.ts';
import { attemptKey, type IdempotencyKeyOptions } from '../create/idempotency-key.ts';
import type { Engine } from '../engine/engine.ts';

interface ClaimRow {
  readonly run_id: string;
  readonly fence: string;
  readonly attempt: number;
  readonly version_id: number;
  readonly next_cursor: string;
  readonly task: string;
  readonly payload: string | null;
  readonly payload_type: string | null;
  readonly metadata: string | null;
  readonly tags: string[] | null;
  readonly is_test: boolean;
  readonly queue_id: number;
  readonly concurrency_key: string | null;
  readonly max_attempts: number | null;
  readonly max_duration: number | null;
  readonly machine: string | null;
  readonly priority_ms: number;
  readonly created_at: Date;
  readonly started_at: Date | null;
  readonly sort_key: string;
  readonly parent_id: string | null;
  readonly root_id: string | null;
  readonly schedule_id: string | null;
  readonly event: string | null;
  readonly batch_id: string | null;
  readonly traceparent: string | null;
  readonly replay_of: string | null;
  readonly idempotency_key: string | null;
  readonly idempotency_key_options: IdempotencyKeyOptions | null;
  readonly region: string | null;
}

export interface Claimed {
  readonly assignments: Assignment[];
  /** Where the next claim of this environment continues in the ring of lanes. */
  readonly cursor: string;
}

/** The cursor of the first claim: a `ring_cursor` of the database, which is opaque to the code. */
export const firstCursor = '(-1,0,)';

/** Leases up to `want` waiting runs of these versions to a runner, in one statement that also counts their limits. */
export async function claimRuns(
  engine: Engine,
  sql: Sql,
  runner: ConnectedRunner,
  current: number | undefined,
  pins: readonly number[],
  want: number,
  cursor: string,
): Promise<Claimed> {
  const rows = await sql<ClaimRow[]>`
    select * from claim_runs(${runner.env}, ${runner.id}, ${[...pins]}::int[], ${current ?? null}::int, ${want},
                             ${cursor}::ring_cursor, ${new Date(engine.clock.now())})`;
  const now = engine.clock.now();
  const assignments: Assignment[] = [];
  for (const row of rows) {
    const version = engine.versions.name(row.version_id);
    const queue = engine.queues.name(row.queue_id);
    const assignment: Assignment = {
      run: row.run_id,
      fence: Number(row.fence),
      attempt: row.attempt,
      task: row.task,
      version: typeof version === 'string' ? version : await version,
      payload: row.payload,
      payloadType: row.payload_type ?? 'application/json',
      metadata: row.metadata,
      tags: row.tags ?? [],
      isTest: row.is_test,
      queue: typeof queue === 'string' ? queue : await queue,
      concurrencyKey: row.concurrency_key,
      maxAttempts: row.max_attempts,
      maxDuration: row.max_duration,
      machine: row.machine,
      priority: row.priority_ms / 1_000,
      createdAt: row.created_at.getTime(),
      startedAt: row.started_at?.getTime() ?? null,
      parentRun: row.parent_id,
      rootRun: row.root_id,
      batch: row.batch_id,
      schedule: row.schedule_id,
      event: row.event,
      traceparent: row.traceparent,
      replayOf: row.replay_of,
      ...attemptKey(row.idempotency_key, row.idempotency_key_options),
      region: row.region,
    };
    assignments.push(assignment);
    const { task, queue: queueName, version: versionName } = assignment;
    const subject = { env: runner.env, task, queue: queueName, version: versionName };
    engine.stats.started(subject, now - Number(row.sort_key) - row.priority_ms, now);
  }
  return { assignments, cursor: rows[0]?.next_cursor ?? cursor };
}
