import type { Assignment } from '@millrace/contract/runner';
import type { Engine } from '../engine/engine.ts';
import { attemptKey, type IdempotencyKeyOptions } from './idempotency-key.ts';
import type { NewRun } from './row.ts';

/** The assignment sent to a runner for a run that was leased to it on creation. Built without reading the database. */
export async function assignmentOf(
  engine: Engine,
  run: NewRun,
  {
    fence,
    version,
    root,
  }: { readonly fence: number; readonly version: number; readonly root: string | null },
): Promise<Assignment> {
  return {
    run: run.id,
    fence,
    attempt: 1,
    task: run.task,
    version: await engine.versions.name(version),
    payload: run.payload,
    payloadType: run.payloadType ?? 'application/json',
    metadata: run.metadata,
    tags: run.tags,
    isTest: run.isTest,
    queue: await engine.queues.name(run.queueId),
    concurrencyKey: run.concurrencyKey === '' ? null : run.concurrencyKey,
    maxAttempts: run.maxAttempts,
    maxDuration: run.maxDuration,
    machine: run.machine,
    priority: run.priorityMs / 1_000,
    createdAt: engine.clock.now(),
    parentRun: run.parentId,
    rootRun: root,
    batch: null,
    schedule: run.scheduleId ?? null,
    event: run.event ?? null,
    traceparent: run.traceparent ?? null,
    replayOf: run.replayOf ?? null,
    ...attemptKey(
      run.idempotencyKey,
      run.idempotencyOptions === null ? null : (JSON.parse(run.idempotencyOptions) as IdempotencyKeyOptions),
    ),
    region: run.region,
  };
}
