/** Finds the environment of a request: by its key, or by its path and branch headers. */
import { environmentKind, type EnvironmentKind } from '@millrace/contract';
import type { Queryable } from '../db/connect.ts';
import { badRequest, notFound } from '../problem.ts';
import { branchName } from './branch.ts';
import { environment } from './credential-rows.ts';
import { isUser, type Environment, type Principal } from './principal.ts';
import { environmentSlug } from './slug.ts';

/** A request whose path names a project and one of its environments. */
export interface Addressed {
  readonly params: EnvironmentPath;
  readonly principal: Principal;
  header(name: string): string | undefined;
}

export interface EnvironmentPath {
  readonly projectRef: string;
  readonly env: string;
}

/**
 * The environment, or branch, of a request. For a secret key, it is the key's own, which the path must name. For a personal access token, it is the one
 * in the path; the user is already known to be a member of the project.
 */
export async function findTarget(sql: Queryable, request: Addressed): Promise<Environment> {
  const { principal, params } = request;
  if (!isUser(principal)) return ownEnvironment(principal.environment, params);
  const kind = environmentKind(params.env);
  if (kind === undefined) return bySlug(sql, principal.userId, params);
  const branch = branchIn(kind, request);
  const found = await environmentOf(sql, principal.userId, params.projectRef, kind, branch);
  if (found) return found;
  throw branch === undefined
    ? notFound('Environment not found', false, 'environment_not_found')
    : notFound('Branch not found', false, 'branch_not_found');
}

/** The environment in a user's path, ignoring branch headers: operations on it affect all of its branches. */
export async function wholeTarget(
  sql: Queryable,
  userId: string,
  path: EnvironmentPath,
): Promise<Environment> {
  const kind = environmentKind(path.env);
  const found = kind && (await environmentOf(sql, userId, path.projectRef, kind));
  if (!found) throw notFound('Environment not found', false, 'environment_not_found');
  return found;
}

/** The live environment of a kind, or a live branch of it. Each member has a dev environment of their own and sees no other. */
export async function environmentOf(
  sql: Queryable,
  userId: string,
  projectRef: string,
  kind: EnvironmentKind,
  branch?: string,
): Promise<Environment | undefined> {
  const [row] = await sql<{ environment: Environment }[]>`
    select ${environment(sql)}
      from environments e join projects p on p.id = e.project_id left join environments parent on parent.id = e.parent_id
     where p.ref = ${projectRef} and e.kind = ${kind} and e.branch is not distinct from ${branch ?? null}::text
       and e.archived_at is null and ${seenBy(sql, userId)}`;
  return row?.environment;
}

/** Condition: the environment `e` with the parent `parent` is not another member's dev environment. */
export const seenBy = (sql: Queryable, userId: string) =>
  sql`(e.kind <> 'dev' or coalesce(parent.member_id, e.member_id) = ${userId})`;

export const otherProject = (own: string) =>
  badRequest(`Invalid project ref for this API key: it is a key of ${own}`);

function ownEnvironment(own: Environment, { projectRef, env }: EnvironmentPath): Environment {
  if (projectRef !== own.projectRef) throw otherProject(own.projectRef);
  if (environmentKind(env) === own.kind || env === environmentSlug(own.kind, own.branch)) return own;
  throw badRequest(`Invalid environment for this API key: it is a key of ${own.kind}`);
}

/** Only preview and dev have branches. Hosting platforms set the branch variable in production too, where it must be ignored. */
export function branchOfKind(kind: EnvironmentKind, branch: string | undefined): string | undefined {
  if (kind === 'prod' || kind === 'stg') return undefined;
  return kind === 'dev' && branch === 'default' ? undefined : branch;
}

const branchIn = (kind: EnvironmentKind, request: Pick<Addressed, 'header'>): string | undefined =>
  branchOfKind(
    kind,
    branchName(request.header('x-service-branch')) ?? branchName(request.header('x-trigger-branch')),
  );

/** Finds a branch by its slug. If two branches have the same slug, the header must name one. */
async function bySlug(
  sql: Queryable,
  userId: string,
  { projectRef, env: slug }: EnvironmentPath,
): Promise<Environment> {
  const rows = await sql<{ environment: Environment }[]>`
    select ${environment(sql)}
      from environments e join projects p on p.id = e.project_id join environments parent on parent.id = e.parent_id
     where p.ref = ${projectRef} and e.archived_at is null and ${seenBy(sql, userId)}`;
  const found = rows.filter((row) => environmentSlug(row.environment.kind, row.environment.branch) === slug);
  if (found.length === 1 && found[0]) return found[0].environment;
  if (found.length === 0) throw notFound('Environment not found', false, 'environment_not_found');
  throw badRequest(`${slug} matches several branches: name the branch in x-service-branch`);
}
