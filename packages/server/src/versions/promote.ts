import type { TaskManifest } from '@millrace/contract/runner';
import type { RecordHere } from '../audit/record.ts';
import type { Clock } from '../db/clock.ts';
import type { Transaction } from '../db/connect.ts';
import type { AddedVersion } from './add.ts';
import { declareQueues } from './queues.ts';

/** Called in the transaction that makes a version current, with its tasks. */
export type OnPromote = (tx: Transaction, env: number, tasks: readonly TaskManifest[]) => Promise<void>;

export interface PromoteDependencies {
  readonly clock: Pick<Clock, 'now'>;
  readonly onPromote?: OnPromote;
}

/**
 * Makes a version current, in the transaction of the caller, who has locked the versions of the environment. This includes its queues with
 * their declared limits, the runs that waited for a version with their task, and declared schedules. Ends a canary. Returns the previously
 * current version. Promoting the current version changes nothing.
 */
export async function promote(
  tx: Transaction,
  { clock, onPromote }: PromoteDependencies,
  env: number,
  { id, version }: AddedVersion,
  record?: RecordHere,
): Promise<string | null> {
  const [replaced] = await tx<{ id: number; version: string; canary: string | null }[]>`
    select v.id, v.version, k.version as canary
      from current_versions c join versions v on v.id = c.version_id left join versions k on k.id = c.canary_id where c.env = ${env}`;
  if (replaced?.id === id) return replaced.version;
  const at = new Date(clock.now());
  const tasks = await tasksOf(tx, id);
  await declareQueues(tx, env, tasks);
  await tx`
    insert into current_versions (env, version_id) values (${env}, ${id})
    on conflict (env) do update set version_id = excluded.version_id, canary_id = null, canary_percent = null`;
  await tx`update versions set promoted_at = ${at} where id = ${id} and promoted_at is null`;
  await tx`select promote_pending_version(${env}, ${at}, 100000)`;
  await onPromote?.(tx, env, tasks);
  await record?.(tx, {
    act: 'version.promoted',
    target: version,
    old: replaced && { version: replaced.version, canary: replaced.canary ?? undefined },
    new: { version, tasks: tasks.length },
  });
  return replaced?.version ?? null;
}

async function tasksOf(tx: Transaction, version: number): Promise<TaskManifest[]> {
  const rows = await tx<{ manifest: TaskManifest }[]>`
    select manifest from tasks where version_id = ${version} order by id`;
  return rows.map(({ manifest }) => manifest);
}

/** The tasks of the current version, or none. */
export async function currentTasks(tx: Transaction, env: number): Promise<TaskManifest[]> {
  const [current] = await tx<{ version_id: number }[]>`
    select version_id from current_versions where env = ${env}`;
  return current ? tasksOf(tx, current.version_id) : [];
}
