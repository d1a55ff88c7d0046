import type { SharedLimitResponse } from '@millrace/contract';
import type { RecordHere } from '../audit/record.ts';
import type { Queryable, Sql } from '../db/connect.ts';
import { sharedRunning } from './find.ts';

interface Row {
  readonly id: number;
  readonly name: string;
  readonly base: number;
  readonly override: number | null;
  readonly overridden_at: Date | null;
  readonly running: number;
  readonly queues: readonly string[];
}

/** The shared limits of an environment by name, or only the one with this name. */
export async function listSharedLimits(
  sql: Queryable,
  env: number,
  name: string | null = null,
): Promise<SharedLimitResponse[]> {
  const rows = await sql<Row[]>`
    select h.id, h.name, h.slots as base, h.slots_override as override, h.overridden_at, ${sharedRunning(sql)} as running,
           array(select m.name from queues m where m.shared_limit_id = h.id order by m.name) as queues
      from shared_limits h where h.env = ${env} and (${name}::text is null or h.name = ${name}) order by h.name`;
  return rows.map((row) => ({
    name: row.name,
    limit: row.override ?? row.base,
    base: row.base,
    override: row.override,
    overriddenAt: row.overridden_at?.toISOString() ?? null,
    running: row.running,
    queues: [...row.queues],
  }));
}

/**
 * Sets a shared limit, overriding the declared value; null returns to the declared one. No claim runs in the meantime. Runs that are
 * already executing continue. Undefined if the limit does not exist.
 */
export async function overrideSharedLimit(
  sql: Sql,
  env: number,
  name: string,
  { override, at }: { readonly override: number | null; readonly at: Date },
  record?: RecordHere,
): Promise<SharedLimitResponse | undefined> {
  await sql.begin(async (tx) => {
    const [old] = await tx<{ id: number; override: number | null }[]>`
      select id, slots_override as override from shared_limits where env = ${env} and name = ${name} for no key update`;
    if (!old || old.override === override) return;
    await tx`select claim_lock(${env})`;
    await tx`
      update shared_limits set slots_override = ${override}, overridden_at = ${override === null ? null : at} where id = ${old.id}`;
    const act = override === null ? 'sharedLimit.overrideReset' : 'sharedLimit.overridden';
    await record?.(tx, { act, target: name, old: { override: old.override }, new: { override } });
  });
  const [now] = await listSharedLimits(sql, env, name);
  return now;
}
