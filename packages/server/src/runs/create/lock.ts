import type { TaskManifest } from '@millrace/contract/runner';
import type { Queryable } from '../../db/connect.ts';
import { unprocessable } from '../../problem.ts';
import type { CurrentVersion, Versions } from '../../versions/versions.ts';

/** A task as the version declares it that a run of it will execute on. */
export interface KnownTask {
  /** Undefined where no version has it yet. */
  readonly manifest: TaskManifest | undefined;
  /** The id of that version, if the run may go to no other. */
  readonly lockedTo: number | undefined;
  /** The `externalDeploymentId` of the deployment that it waits for: none carries it yet. */
  readonly awaited?: string;
}

/** The task of a run that is locked to a version, whatever version is current. 422 for a version that does not exist or lacks the task. */
export async function findLock(
  versions: Versions,
  env: number,
  task: string,
  version: string,
): Promise<KnownTask> {
  const declared = await versions.declared(env, version, task);
  if (!declared)
    throw unprocessable(
      `Version "${version}" does not exist in this environment: lock to a registered version.`,
      'version_not_found',
    );
  const { id, state, manifest } = declared;
  if (state !== 'ready') {
    throw unprocessable(
      `Version "${version}" cannot execute runs: its deployment is ${state}. Lock to another version.`,
      'version_not_ready',
    );
  }
  if (!manifest) throw lacksTask(version, task);
  return { manifest, lockedTo: id };
}

/** The same where the version is the current one, whose tasks are known. */
export function lockToCurrent({ id, version, tasks }: CurrentVersion, task: string): KnownTask {
  const manifest = tasks.get(task);
  if (!manifest) throw lacksTask(version, task);
  return { manifest, lockedTo: id };
}

const lacksTask = (version: string, task: string) =>
  unprocessable(
    `Version "${version}" has no task "${task}". A run that another one waits for starts on the version of that one; the option version names another.`,
    'task_not_found',
  );

/** The same for the deployment that carries an `externalDeploymentId`. Undefined while none does. */
export async function findExternal(
  sql: Queryable,
  env: number,
  task: string,
  externalId: string,
): Promise<KnownTask | undefined> {
  const [row] = await sql<{ id: number; version: string; manifest: TaskManifest | null }[]>`
    select v.id, v.version, t.manifest
      from external_ids x join versions v on v.id = x.version_id left join tasks t on t.version_id = v.id and t.id = ${task}
     where x.env = ${env} and x.id = ${externalId}`;
  if (!row) return undefined;
  if (!row.manifest) {
    throw unprocessable(
      `The deployment "${externalId}" is version "${row.version}", which has no task "${task}".`,
      'task_not_found',
    );
  }
  return { manifest: row.manifest, lockedTo: row.id };
}
