import type { TaskManifest } from '@millrace/contract/runner';
import type { Queryable } from '../../db/connect.ts';
import { unprocessable } from '../../problem.ts';
import type { CurrentVersion, Versions } from '../../versions/versions.ts';

/** A task as declared by the version that a run of it will execute on. */
export interface KnownTask {
  /** Undefined if no version has the task yet. */
  readonly manifest: TaskManifest | undefined;
  /** The id of that version, if the run may use no other. */
  readonly lockedTo: number | undefined;
  /** The `externalDeploymentId` of the deployment that the run waits for, which does not exist yet. */
  readonly awaited?: string;
}

/**
 * The task of a run that is locked to a version, regardless of which version is current. 422 for a version that does not exist or lacks the
 * task.
 */
export async function findLock(
  versions: Versions,
  env: number,
  task: string,
  version: string,
): Promise<KnownTask> {
  const declared = await versions.declared(env, version, task);
  if (!declared)
    throw unprocessable(
      `Version "${version}" does not exist in this environment. Lock to a registered version.`,
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

/** The same if the version is the current one, whose tasks are cached. */
export function lockToCurrent({ id, version, tasks }: CurrentVersion, task: string): KnownTask {
  const manifest = tasks.get(task);
  if (!manifest) throw lacksTask(version, task);
  return { manifest, lockedTo: id };
}

const lacksTask = (version: string, task: string) =>
  unprocessable(
    `Version "${version}" has no task "${task}". A run that its parent waits for starts on the version of the parent. Use the option version to select another one.`,
    'task_not_found',
  );

/** The same for the deployment with an `externalDeploymentId`. Undefined while there is none. */
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
