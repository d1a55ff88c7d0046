/** Projects and their environments. */
import {
  environmentKinds,
  environmentTypes,
  type EnvironmentKind,
  type Project,
  type Role,
} from '@millrace/contract';
import { newProjectRef } from '../auth/keys.ts';
import type { Environment } from '../auth/principal.ts';
import { secretKeyContext, unseal, type MasterKey } from '../auth/seal.ts';
import { environmentSlug } from '../auth/slug.ts';
import { seenBy } from '../auth/target.ts';
import { recordAct, type Actor } from '../audit/record.ts';
import type { Queryable, Sql } from '../db/connect.ts';
import { notFound } from '../problem.ts';
import { addMissingDevEnvironments, insertEnvironment } from './environments.ts';
import { refuseMoreProjects } from './limits.ts';
import type { BootstrapSettings } from './bootstrap-settings.ts';

interface ProjectRow {
  readonly ref: string;
  readonly name: string;
  readonly created_at: Date;
  readonly organization: { id: string; name: string };
  readonly role: Role;
}

const projectOf = ({ ref, name, created_at, organization, role }: ProjectRow): Project => ({
  id: ref,
  externalRef: ref,
  name,
  createdAt: created_at.toISOString(),
  organization,
  role,
});

/** The user's projects: all, those of one organization, or one. */
export async function listProjects(
  sql: Queryable,
  userId: string,
  { organization = null, ref = null }: { organization?: string | null; ref?: string | null } = {},
): Promise<Project[]> {
  const rows = await sql<ProjectRow[]>`
    select p.ref, p.name, p.created_at, json_build_object('id', o.id, 'name', o.name) as organization, m.role
      from memberships m join organizations o on o.id = m.organization_id join projects p on p.organization_id = o.id
     where m.user_id = ${userId} and p.deleted_at is null and (${organization}::text is null or o.id = ${organization}::text)
       and (${ref}::text is null or p.ref = ${ref}::text)
     order by p.id`;
  return rows.map(projectOf);
}

export async function retrieveProject(sql: Queryable, userId: string, ref: string): Promise<Project> {
  const [found] = await listProjects(sql, userId, { ref });
  if (!found) throw notFound('Project not found', false, 'project_not_found');
  return found;
}

/** Inserts a project with its environments. The returned dev key is that of `ownerId`. */
export async function insertProject(
  sql: Queryable,
  masterKey: MasterKey,
  organization: string,
  ownerId: string,
  name: string,
  settings: Pick<BootstrapSettings, 'projectRef' | 'secretKeys'> = { secretKeys: {} },
): Promise<{ ref: string; secretKeys: Record<EnvironmentKind, string> }> {
  const ref = settings.projectRef ?? newProjectRef();
  // Locked, so that no member can join without getting a dev environment.
  await sql`select from organizations where id = ${organization} for update`;
  const [project] = await sql<{ id: number }[]>`
    insert into projects (ref, organization_id, name) values (${ref}, ${organization}, ${name}) returning id`;
  if (!project) throw new TypeError('insert returned nothing');
  const secretKeys = { dev: '', stg: '', prod: '', preview: '' };
  for (const kind of environmentKinds) {
    const memberId = kind === 'dev' ? ownerId : null;
    const key = settings.secretKeys[kind];
    secretKeys[kind] = (await insertEnvironment(sql, masterKey, project.id, kind, memberId, key)).secretKey;
  }
  await addMissingDevEnvironments(sql, masterKey, organization);
  return { ref, secretKeys };
}

export async function createProject(
  sql: Sql,
  masterKey: MasterKey,
  userId: string,
  organization: string,
  name: string,
  limit: number,
  by: Actor,
): Promise<Project> {
  return sql.begin(async (tx) => {
    await refuseMoreProjects(tx, organization, limit);
    const { ref } = await insertProject(tx, masterKey, organization, userId, name);
    await recordAct(tx, by, { act: 'project.created', target: ref, in: { projectRef: ref }, new: { name } });
    return retrieveProject(tx, userId, ref);
  });
}

export async function renameProject(
  sql: Sql,
  userId: string,
  ref: string,
  name: string,
  by: Actor,
): Promise<Project> {
  return sql.begin(async (tx) => {
    const [old] = await tx<{ name: string }[]>`select name from projects where ref = ${ref} for update`;
    await tx`update projects set name = ${name} where ref = ${ref}`;
    await recordAct(tx, by, {
      act: 'project.updated',
      target: ref,
      in: { projectRef: ref },
      old,
      new: { name },
    });
    return retrieveProject(tx, userId, ref);
  });
}

/** The environments of a project that a user sees: their own dev, the others, and all live branches. */
export async function listEnvironments(sql: Sql, userId: string, ref: string) {
  const rows = await sql<{ id: string; kind: EnvironmentKind; branch: string | null; paused: boolean }[]>`
    select e.public_id as id, e.kind, e.branch, e.paused from environments e join projects p on p.id = e.project_id
      left join environments parent on parent.id = e.parent_id
     where p.ref = ${ref} and e.archived_at is null and ${seenBy(sql, userId)}
     order by e.parent_id nulls first, array_position(${environmentKinds}::text[], e.kind), e.id`;
  return rows.map(({ id, kind, branch, paused }) => ({
    id,
    slug: environmentSlug(kind, branch),
    type: environmentTypes[kind],
    isBranchableEnvironment: branch === null && (kind === 'preview' || kind === 'dev'),
    branchName: branch,
    paused,
  }));
}

/** The text of the unrestricted live key that expires last (the oldest, if there are several). The access is recorded in the audit log. */
export async function revealKey(
  sql: Sql,
  masterKey: MasterKey,
  environment: Environment,
  by: Actor,
): Promise<string | undefined> {
  return sql.begin(async (tx) => {
    const [row] = await tx<{ id: string; sealed: Buffer }[]>`
      select id, sealed from secret_keys
       where environment_id = ${environment.id} and 'admin' = any(scopes) and revoked_at is null
         and (expires_at is null or expires_at > now())
       order by expires_at desc nulls first, created_at, id limit 1`;
    if (!row) return undefined;
    await recordAct(tx, by, {
      act: 'key.revealed',
      target: row.id,
      in: { projectRef: environment.projectRef, environment: environment.kind },
    });
    return unseal(masterKey, row.sealed, secretKeyContext(row.id));
  });
}
