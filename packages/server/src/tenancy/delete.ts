/** Deletes projects and environments. Access ends immediately; the data is deleted in batches. */
import type { Environment } from '../auth/principal.ts';
import type { MasterKey } from '../auth/seal.ts';
import { recordAct, type Actor } from '../audit/record.ts';
import type { Sql } from '../db/connect.ts';
import { badRequest, notFound, unprocessable } from '../problem.ts';
import { archiveEnvironments, insertEnvironment } from './environments.ts';

function refuseUnconfirmed(confirm: string, expected: string): void {
  if (confirm !== expected) {
    throw badRequest(`confirm: deleting cannot be undone. Send confirm=${expected} to proceed.`);
  }
}

/** Deletes a project with everything in it. The last project of the installation cannot be deleted. */
export async function deleteProject(
  sql: Sql,
  ref: string,
  confirm: string,
  by: Actor,
): Promise<{ id: string }> {
  refuseUnconfirmed(confirm, ref);
  return sql.begin(async (tx) => {
    // Locks all projects, so that two concurrent deletions cannot delete the last one.
    const live = await tx<{ id: number; ref: string; name: string }[]>`
      select id, ref, name from projects where deleted_at is null order by id for update`;
    const project = live.find((each) => each.ref === ref);
    if (!project) throw notFound('Project not found', false, 'project_not_found');
    if (live.length === 1) {
      throw unprocessable('This is the only project. Create another one before you delete it.');
    }
    await tx`update projects set deleted_at = now() where id = ${project.id}`;
    await archiveEnvironments(tx, tx`e.project_id = ${project.id}`, { deleted: true });
    await recordAct(tx, by, {
      act: 'project.deleted',
      target: ref,
      in: { projectRef: ref },
      old: { name: project.name },
    });
    return { id: ref };
  });
}

/**
 * Deletes an environment with its branches, keys and data. It is replaced by a new, empty one, since every project has one of each kind.
 * prod can only be deleted with its project.
 */
export async function deleteEnvironment(
  sql: Sql,
  masterKey: MasterKey,
  environment: Environment,
  confirm: string,
  by: Actor,
): Promise<{ id: string; deleted: string }> {
  const { id, publicId, kind, projectId, projectRef } = environment;
  if (kind === 'prod') {
    throw unprocessable('prod can be deleted only with its project. Pause it, or delete the project.');
  }
  refuseUnconfirmed(confirm, kind);
  return sql.begin(async (tx) => {
    const [live] = await tx<{ memberId: string | null }[]>`
      select member_id as "memberId" from environments where id = ${id} and archived_at is null for update`;
    if (!live) throw notFound('Environment not found', false, 'environment_not_found');
    await archiveEnvironments(tx, tx`e.id = ${id}`, { deleted: true });
    const created = await insertEnvironment(tx, masterKey, projectId, kind, live.memberId);
    await recordAct(tx, by, {
      act: 'environment.deleted',
      target: publicId,
      in: { projectRef, environment: kind },
      new: { id: created.publicId },
    });
    return { id: created.publicId, deleted: publicId };
  });
}
