import type { RegisterVersion, RegisteredVersion, TaskManifest } from '@millrace/contract/runner';
import type { RecordHere } from '../audit/record.ts';
import type { Clock } from '../db/clock.ts';
import type { Sql, Transaction } from '../db/connect.ts';
import type { Wakes } from '../db/wake.ts';
import type { Log } from '../logger.ts';
import { badRequest } from '../problem.ts';
import type { Versions } from './versions.ts';

export interface RegisterDependencies {
  readonly sql: Sql;
  readonly log: Log;
  readonly clock: Clock;
  readonly versions: Versions;
  readonly wakes: Wakes;
  /** Called in the transaction that makes a version current. */
  readonly onRegister?: (tx: Transaction, env: number, tasks: readonly TaskManifest[]) => Promise<void>;
}

/**
 * Registers a bundle and makes it the current version, in one transaction: version, tasks, queues with their limits, and the runs that
 * waited for a version with their task. The same content again is the same version, which becomes current again.
 */
export async function registerVersion(
  { sql, log, clock, versions, wakes, onRegister }: RegisterDependencies,
  env: number,
  { contentHash, tasks }: RegisterVersion,
  record?: RecordHere,
): Promise<RegisteredVersion> {
  refuseDuplicates(tasks);
  const registered = await sql.begin(async (tx) => {
    // Concurrent runners with the same code register it once.
    await tx`select pg_advisory_xact_lock(7144003, ${env})`;
    const [known] = await tx<{ id: number; version: string; current: boolean }[]>`
      select v.id, v.version, c.version_id is not null as current
        from versions v left join current_versions c on c.env = v.env and c.version_id = v.id
       where v.env = ${env} and v.content_hash = ${contentHash} order by v.sequence desc limit 1`;
    if (known?.current) return { version: known.version, isNew: false };
    const version = known ?? (await addVersion(tx, env, contentHash, tasks, new Date(clock.now())));
    await declareQueues(tx, env, tasks);
    const [replaced] = await tx<{ version: string }[]>`
      select v.version from current_versions c join versions v on v.id = c.version_id where c.env = ${env}`;
    await tx`
      insert into current_versions (env, version_id) values (${env}, ${version.id})
      on conflict (env) do update set version_id = excluded.version_id`;
    await tx`select promote_pending_version(${env}, ${new Date(clock.now())}, 100000)`;
    await onRegister?.(tx, env, tasks);
    await record?.(tx, {
      act: 'version.registered',
      target: version.version,
      old: replaced && { version: replaced.version },
      new: { version: version.version, tasks: tasks.length },
    });
    return { version: version.version, isNew: true };
  });
  versions.forget(env);
  wakes.tell({ kind: 'versions', env });
  if (registered.isNew)
    log.info('version.registered', { env, version: registered.version, tasks: tasks.length });
  return registered;
}

function refuseDuplicates(tasks: readonly TaskManifest[]): void {
  const files = new Map<string, string>();
  for (const task of tasks) {
    const other = files.get(task.id);
    if (other !== undefined) {
      throw badRequest(
        `Two tasks are called "${task.id}": one in ${other}, one in ${task.filePath}. Rename one of them.`,
      );
    }
    files.set(task.id, task.filePath);
  }
}

async function addVersion(
  tx: Transaction,
  env: number,
  contentHash: string,
  tasks: readonly TaskManifest[],
  at: Date,
): Promise<{ id: number; version: string }> {
  const day = at.toISOString().slice(0, 10).replaceAll('-', '');
  const [row] = await tx<{ id: number; version: string }[]>`
    insert into versions (env, version, sequence, content_hash, created_at)
    select ${env}, ${day} || '.' || (1 + count(*) filter (where version like ${`${day}.%`}))::text,
           1 + coalesce(max(sequence), 0), ${contentHash}, ${at}
      from versions where env = ${env}
    returning id, version`;
  if (!row) throw new Error('a version was not inserted');
  await tx`
    insert into tasks (version_id, id, manifest)
    select ${row.id}, t.id, t.manifest
      from unnest(${tasks.map((task) => task.id)}::text[], ${tasks.map((task) => JSON.stringify(task))}::text[]::jsonb[])
             as t (id, manifest)`;
  return row;
}

/** Upserts the queues of tasks with their declared limits. If a limit changed, the lanes that it blocked are checked again. */
async function declareQueues(tx: Transaction, env: number, tasks: readonly TaskManifest[]): Promise<void> {
  const limits = new Map<string, number | null>();
  for (const task of tasks) {
    const name = queueOf(task);
    const limit = task.queue?.concurrencyLimit ?? null;
    // Of several tasks with one queue, the lowest declared limit applies.
    const other = limits.get(name);
    limits.set(name, limit === null ? (other ?? null) : Math.min(limit, other ?? limit));
  }
  const names = [...limits.keys()].toSorted();
  const changed = await tx<{ id: number }[]>`
    insert into queues (env, name, concurrency_limit)
    select ${env}, i.name, i.most
      from unnest(${names}::text[], ${names.map((name) => limits.get(name) ?? null)}::int[]) as i (name, most)
    on conflict (env, name) do update set concurrency_limit = excluded.concurrency_limit
      where queues.concurrency_limit is distinct from excluded.concurrency_limit
    returning id`;
  if (changed.length === 0) return;
  await tx`select claim_lock(${env})`;
  await tx`
    update lanes set blocked = false
     where blocked and queue_id = any(${changed.map((queue) => queue.id)}::int[])`;
}

/** The queue of a task's runs, unless the trigger names another. */
export const queueOf = (task: TaskManifest): string => task.queue?.name ?? `task/${task.id}`;
