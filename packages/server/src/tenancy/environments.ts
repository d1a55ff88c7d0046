/** The environments of a project: one each of stg, prod and preview, and one of dev for each member. */
import type { EnvironmentKind } from '@millrace/contract';
import type { MasterKey } from '../auth/seal.ts';
import { addSigningKey } from '../auth/signing-keys.ts';
import type { Fragment, Queryable } from '../db/connect.ts';
import { newId } from '../db/ids.ts';
import { insertKey } from './create-key.ts';

/**
 * Creates an environment with a signing key and an unrestricted secret key (`key`, if given). `memberId` is the owner of a dev environment.
 */
export async function insertEnvironment(
  sql: Queryable,
  masterKey: MasterKey,
  projectId: number,
  kind: EnvironmentKind,
  memberId: string | null,
  key?: string,
): Promise<{ publicId: string; secretKey: string }> {
  const publicId = newId('env');
  const [row] = await sql<{ id: number }[]>`
    insert into environments (public_id, project_id, kind, member_id)
    values (${publicId}, ${projectId}, ${kind}, ${memberId}) returning id`;
  if (!row) throw new TypeError('insert returned nothing');
  await addSigningKey(sql, masterKey, row.id);
  const { text } = await insertKey(
    sql,
    masterKey,
    { id: row.id, kind },
    { name: 'default', preset: 'full', tasks: null, scopes: ['admin'], expiresAt: null, createdBy: null },
    key,
  );
  return { publicId, secretKey: text };
}

/**
 * Creates the missing dev environments: one for each member in each project of their organizations. Callers that add a member or a
 * project must have locked the organization.
 */
export async function addMissingDevEnvironments(
  sql: Queryable,
  masterKey: MasterKey,
  organization: string | null = null,
): Promise<void> {
  const missing = await sql<{ projectId: number; userId: string }[]>`
    select p.id as "projectId", m.user_id as "userId"
      from projects p join memberships m on m.organization_id = p.organization_id
     where p.deleted_at is null and (${organization}::text is null or p.organization_id = ${organization}::text)
       and not exists (
         select from environments e
          where e.project_id = p.id and e.kind = 'dev' and e.parent_id is null and e.archived_at is null and e.member_id = m.user_id)
     order by p.id, m.created_at, m.user_id
       -- locked against deletion
       for key share of p`;
  for (const { projectId, userId } of missing) {
    await insertEnvironment(sql, masterKey, projectId, 'dev', userId);
  }
}

/** Days until the data of an archived environment is deleted. */
export const archivedDays = 30;
/** Minutes until the data of a deleted environment is deleted. Requests and attempts in progress have ended by then. */
const deletedMinutes = 5;

/**
 * Archives environments `e` and their branches: no credential can access them, and they start no runs. The job of `prune.ts` deletes
 * their data: soon if they were deleted, otherwise after a month.
 */
export async function archiveEnvironments(
  sql: Queryable,
  which: Fragment,
  { deleted }: { readonly deleted: boolean },
): Promise<void> {
  const [days, minutes] = deleted ? [0, deletedMinutes] : [archivedDays, 0];
  // Waits for transactions that are creating a branch, so that the next statement sees their branches.
  await sql`select from environments e where ${which} order by e.id for no key update`;
  await sql`
    with gone as (select e.id from environments e where ${which})
    update environments set
      archived_at = coalesce(archived_at, now()), updated_at = now(), paused = true,
      prune_at = least(prune_at, now() + make_interval(days => ${days}, mins => ${minutes}))
     where id in (select id from gone) or parent_id in (select id from gone)`;
}

/** Archives the branches of a leaving member, with their own environments. */
export const archiveMemberEnvironments = (
  tx: Queryable,
  organization: string,
  userId: string,
): Promise<void> =>
  archiveEnvironments(
    tx,
    tx`e.member_id = ${userId} and e.archived_at is null
       and e.project_id in (select id from projects where organization_id = ${organization})`,
    { deleted: false },
  );

/** Restores the dev environments of a returning member, with their branches, unless their data is already being deleted. */
export async function restoreDevEnvironments(
  sql: Queryable,
  organization: string,
  userId: string,
): Promise<void> {
  await sql`
    with back as (
      select distinct on (e.project_id) e.id, e.archived_at from environments e join projects p on p.id = e.project_id
       where e.member_id = ${userId} and p.organization_id = ${organization} and p.deleted_at is null and e.parent_id is null
         and e.archived_at is not null and e.prune_at > now() + interval '1 hour'
         and not exists (select from environments live
                          where live.project_id = e.project_id and live.member_id = ${userId} and live.kind = e.kind
                            and live.parent_id is null and live.archived_at is null)
       order by e.project_id, e.archived_at desc)
    update environments e set archived_at = null, prune_at = null, paused = false, updated_at = now()
      from back where e.id = back.id or (e.parent_id = back.id and e.archived_at = back.archived_at)`;
}
