import { completeRateLimit, type Queue, type RateLimit, type RateLimitResponse } from '@millrace/contract';
import type { RecordHere } from '../audit/record.ts';
import type { Sql, Transaction } from '../db/connect.ts';
import { setKeyWeight } from './key-weight.ts';
import { findQueue, named, type QueueReference } from './find.ts';

export type QueueChange =
  | { readonly paused: boolean }
  /** Null returns to the declared limit. */
  | { readonly override: number | null; readonly at: Date }
  /** Null means no limit; undefined returns to the declared one. */
  | { readonly rateLimit: RateLimit | null | undefined; readonly at: Date }
  /** Null returns to the declared weight of the key. */
  | { readonly key: string; readonly weight: number | null };

type LimitChange = Exclude<QueueChange, { readonly key: string }>;

interface QueueState {
  readonly id: number;
  readonly name: string;
  readonly paused: boolean;
  readonly override: number | null;
  readonly rateLimit: RateLimitResponse | null;
  readonly hasRateLimitOverride: boolean;
}

/**
 * Pauses or resumes a queue, or changes one of its limits or the weight of one of its keys. No claim runs in the meantime, so the new state
 * applies to every later claim. Lanes that were full or paused are checked again. Runs that are already executing continue. Undefined if
 * the queue does not exist.
 */
export async function changeQueue(
  sql: Sql,
  env: number,
  reference: QueueReference,
  change: QueueChange,
  record?: RecordHere,
): Promise<Queue | undefined> {
  await sql.begin(async (tx) => {
    // Locks the queue before taking the claim lock, in the same order as registering a version.
    const [old] = await tx<QueueState[]>`
      select id, name, paused, concurrency_override as override, rate_limit_override as "rateLimit",
             rate_limit_override is not null as "hasRateLimitOverride" from queues
       where env = ${env} and ${named(tx, reference)} for no key update`;
    if (!old) return;
    await tx`select claim_lock(${env})`;
    if ('key' in change) return setKeyWeight(tx, { env, queue: old.id, name: old.name, record }, change);
    await write(tx, old.id, change);
    if ('rateLimit' in change)
      await tx`update queue_starts set due = null where queue_id = ${old.id} and due is not null`;
    await tx`update lanes set blocked = false, rate_limited_at = null where queue_id = ${old.id} and blocked`;
    if (record) await recordQueue(tx, record, old, change);
  });
  return findQueue(sql, env, reference);
}

function write(tx: Transaction, id: number, change: LimitChange) {
  if ('paused' in change) return tx`update queues set paused = ${change.paused} where id = ${id}`;
  if ('rateLimit' in change) {
    const { rateLimit: rate, at } = change;
    const text = rate === undefined ? null : JSON.stringify(rate && completeRateLimit(rate));
    return tx`
      update queues
         set rate_limit_override = ${text}::jsonb, rate_limit_overridden_at = ${rate === undefined ? null : at}
       where id = ${id}`;
  }
  return tx`
    update queues
       set concurrency_override = ${change.override}, overridden_at = ${change.override === null ? null : change.at}
     where id = ${id}`;
}

/** Changes without effect are not recorded. */
async function recordQueue(
  tx: Transaction,
  record: RecordHere,
  { id, name, paused, override, rateLimit, hasRateLimitOverride }: QueueState,
  change: LimitChange,
): Promise<void> {
  const target = `queue_${id}`;
  if ('paused' in change) {
    if (change.paused === paused) return;
    const act = change.paused ? 'queue.paused' : 'queue.resumed';
    await record(tx, { act, target, old: { paused }, new: { name, paused: change.paused } });
  } else if ('rateLimit' in change) {
    const next = change.rateLimit && completeRateLimit(change.rateLimit);
    if ((next !== undefined) === hasRateLimitOverride && isSame(next ?? null, rateLimit)) return;
    const act = next === undefined ? 'queue.rateLimitReset' : 'queue.rateLimitOverridden';
    await record(tx, { act, target, old: { rateLimit }, new: { name, rateLimit: next ?? null } });
  } else if (change.override !== override) {
    const act = change.override === null ? 'queue.overrideReset' : 'queue.overridden';
    await record(tx, { act, target, old: { override }, new: { name, override: change.override } });
  }
}

const isSame = (first: RateLimitResponse | null, second: RateLimitResponse | null): boolean =>
  first?.limit === second?.limit &&
  first?.period === second?.period &&
  first?.burst === second?.burst &&
  first?.key === second?.key;
