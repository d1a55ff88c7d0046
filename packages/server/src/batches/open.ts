import { lastMoment, parseDuration } from '@millrace/contract';
import { TokenUsed, unuse, useOnce, type OneTimeUse } from '../auth/one-time.ts';
import type { Queryable, Transaction } from '../db/connect.ts';
import { badRequest, unprocessable } from '../problem.ts';
import { storedKey, storedWaitKey, waitKeyMs } from '../runs/create/idempotency-key.ts';
import { holdParent, type Parent } from '../runs/create/parent.ts';
import { storableJson } from '../runs/values/storable.ts';
import { abortBatch } from './abort.ts';
import type { Batches, BatchRow } from './batch.ts';
import { newBatchId } from './ids.ts';

export interface NewBatch {
  readonly env: number;
  readonly runCount: number;
  /** The tasks that the batch is for, if known. */
  readonly tasks?: readonly string[] | undefined;
  /**
   * Throws unless the caller may trigger these tasks (undefined means any). Called before using a batch that another caller may have
   * opened. Omitted for callers who may trigger all tasks.
   */
  readonly admit?: ((tasks: readonly string[] | undefined) => void) | undefined;
  readonly parentRunId?: string | undefined;
  readonly parentFence?: number | undefined;
  readonly resumeParent?: boolean | undefined;
  readonly waitKey?: string | undefined;
  readonly idempotencyKey?: string | undefined;
  readonly idempotencyKeyTTL?: string | undefined;
  readonly idempotencyKeyOptions?: { readonly key: string; readonly scope: string } | undefined;
  readonly requestKey: string | undefined;
  readonly oneTime: OneTimeUse | undefined;
}

export interface Opened {
  readonly batch: BatchRow;
  /** The key resolved to a batch that is already filled. */
  readonly isCached: boolean;
  /** Locked by the transaction that opened the batch; undefined for a repeated request. */
  readonly parent?: Parent | undefined;
}

/**
 * An arbitrary number. Callers with the same key take this advisory lock first, so that each finds the batch stored by the previous one.
 */
const keyLock = 7_144_013;
const defaultKeyMs = 30 * 86_400_000;

/**
 * Opens a batch. A request that is resent finds the batch that it opened. An idempotency key resolves to the batch that it first opened.
 * While that batch waits for its items, any caller with the key may fill it.
 */
export async function openBatch(
  { sql, clock }: Pick<Batches, 'sql' | 'clock'>,
  batch: NewBatch,
): Promise<Opened> {
  const now = clock.now();
  const { requestKey, parentRunId, oneTime } = batch;
  // The fast path: only the same request could have opened the batch before, which a conflict on insertion reveals.
  if (!oneTime && keyOf(batch) === null && parentRunId === undefined && !batch.resumeParent) {
    const opened = await insert(sql, newBatchId(now), batch, undefined, now).catch((error: unknown) => {
      if (requestKey === undefined || !isConflict(error)) throw error;
    });
    if (opened) return { batch: opened, isCached: false };
  }
  const act = (tx: Transaction) => openIn(tx, batch, now);
  try {
    return await sql.begin(act);
  } catch (error) {
    if (isMaybeDuplicate(error, requestKey)) return sql.begin(act);
    throw error;
  }
}

/** The same request may have arrived twice at the same time. The other one's batch is found now. */
export const isMaybeDuplicate = (error: unknown, requestKey: string | undefined): boolean =>
  isConflict(error) || (error instanceof TokenUsed && requestKey !== undefined);

const isConflict = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === '23505';

/** Like `openBatch`, in the caller's transaction. Throws on a conflict with a transaction that opens the same batch. */
export async function openIn(tx: Transaction, batch: NewBatch, now: number): Promise<Opened> {
  const { env, requestKey, oneTime, parentRunId, parentFence } = batch;
  if (requestKey !== undefined) {
    const [opened] = await tx<BatchRow[]>`
      select ${columns(tx)} from batches where env = ${env} and request_key = ${requestKey}::uuid`;
    if (opened) return { batch: opened, isCached: false };
  }
  const key = keyOf(batch);
  if (key !== null) await tx`select pg_advisory_xact_lock(${keyLock}, hashtext(${`${env} ${key}`}))`;
  const parent = parentRunId === undefined ? undefined : await holdParent(tx, env, parentRunId, parentFence);
  const id = newBatchId(now);
  if (oneTime) await useOnce(tx, env, oneTime, id);
  const before = key === null ? undefined : await findByKey(tx, batch, key, now);
  if (before) {
    if (oneTime) {
      // Nothing was created, so the token remains unused; for a batch that waits for its items, it may still fill the batch.
      await unuse(tx, oneTime);
      if (before.sealed_at === null) await useOnce(tx, env, oneTime, before.id);
    }
    return { batch: before, isCached: before.sealed_at !== null, parent };
  }
  return { batch: await insert(tx, id, batch, parent, now), isCached: false, parent };
}

/** The stored form of the key; null for none. */
function keyOf({ waitKey, idempotencyKey }: NewBatch): string | null {
  if (waitKey !== undefined) return storedWaitKey(waitKey);
  return idempotencyKey === undefined ? null : storedKey(idempotencyKey);
}

async function findByKey(
  tx: Transaction,
  { env, runCount, admit }: NewBatch,
  key: string,
  now: number,
): Promise<BatchRow | undefined> {
  const [found] = await tx<(BatchRow & { expired: boolean })[]>`
    select ${columns(tx)}, idempotency_expires_at <= ${new Date(now)} as expired
      from batches where env = ${env} and idempotency_key = ${key} for update`;
  if (!found) return undefined;
  if (admit) admit(await tasksOf(tx, env, found));
  const isOpen = found.sealed_at === null && found.aborted_at === null;
  if (!found.expired && (found.sealed_at !== null || (isOpen && found.run_count === runCount))) return found;
  // The existing batch does not match this call, so the key is moved to the new batch; if the old one is open, it is aborted.
  if (isOpen) await abortBatch(tx, env, found.id, now);
  await tx`update batches set idempotency_key = null where env = ${env} and id = ${found.id}`;
  return undefined;
}

/** The tasks of a batch; undefined for an open batch that may have runs of any task. */
async function tasksOf(tx: Transaction, env: number, batch: BatchRow): Promise<string[] | undefined> {
  const [row] = await tx<{ declared: string[] | null; filled: string[] }[]>`
    select b.tasks as declared,
           array(select distinct r.task from batch_runs(b.env, b.id) m join runs r on r.env = b.env and r.id = m.run_id) as filled
      from batches b where b.env = ${env} and b.id = ${batch.id}`;
  if (!row || (row.declared === null && batch.sealed_at === null)) return undefined;
  return [...new Set([...(row.declared ?? []), ...row.filled])];
}

async function insert(
  tx: Queryable,
  id: string,
  batch: NewBatch,
  parent: Parent | undefined,
  now: number,
): Promise<BatchRow> {
  const { env, runCount, tasks, parentRunId, resumeParent, idempotencyKeyOptions, requestKey } = batch;
  if (resumeParent && !parent) {
    throw unprocessable('resumeParentOnCompletion: requires parentRunId, the run that waits.');
  }
  if (resumeParent && parent && parent.status !== null) {
    throw unprocessable(
      `Cannot trigger a batch as the parent run has a status of ${parent.status}.`,
      'run_ended',
    );
  }
  const key = keyOf(batch);
  const [row] = await tx<BatchRow[]>`
    insert into batches (env, id, run_count, parent_run_id, resume_parent, idempotency_key, idempotency_expires_at,
                         idempotency_key_options, request_key, tasks, created_at)
    values (${env}, ${id}, ${runCount}, ${parentRunId ?? null}, ${resumeParent ?? false}, ${key},
            ${key === null ? null : keyExpiry(batch, now)},
            ${idempotencyKeyOptions ? storableJson(idempotencyKeyOptions) : null}::jsonb, ${requestKey ?? null}::uuid,
            ${tasks ? [...new Set(tasks)] : null}::text[], ${new Date(now)})
    returning ${columns(tx)}`;
  return row as BatchRow;
}

function keyExpiry({ waitKey, idempotencyKeyTTL: ttl }: NewBatch, now: number): Date {
  if (waitKey !== undefined) return new Date(now + waitKeyMs);
  if (ttl === undefined) return new Date(now + defaultKeyMs);
  const read = parseDuration(ttl);
  if (typeof read === 'number') return new Date(Math.min(now + read, lastMoment));
  throw badRequest(`idempotencyKeyTTL: ${read.error}`);
}

export const columns = (sql: Queryable) => sql`
  id, run_count, received, created_at, sealed_at, aborted_at, parent_run_id, idempotency_key`;
