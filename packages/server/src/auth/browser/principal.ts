/** Resolves a browser session to its user, and to their permissions in the environment that a request names. */
import { environmentKind, environmentKinds, type Role } from '@millrace/contract';
import type { Sql } from '../../db/connect.ts';
import { badRequest, notFound } from '../../problem.ts';
import { branchName } from '../branch.ts';
import { environment } from '../credential-rows.ts';
import type { Environment } from '../principal.ts';
import { branchOfKind, seenBy } from '../target.ts';
import { confirmedMsAgo } from '../confirm.ts';
import { idleHours, liveSession } from './live.ts';

/** The environment named in a request's headers. */
export interface NamedEnvironment {
  readonly project: string | undefined;
  readonly environment: string | undefined;
  readonly branch: string | undefined;
  /** A preview environment without a branch is accepted. */
  readonly wholeEnvironment: boolean;
}

export interface SessionRow {
  readonly credentialId: string;
  readonly userId: string;
  readonly expiresAt: Date;
  /** The remaining time until it expires, in milliseconds. */
  readonly endsInMs: number;
  /** The last use was recorded five minutes ago or more. */
  readonly useIsStale: boolean;
  /** How long ago the user's identity provider confirmed them; null if they have none. */
  readonly confirmedMsAgo: number | null;
}

export async function sessionByDigest(sql: Sql, digest: Buffer): Promise<SessionRow | undefined> {
  const [row] = await sql<SessionRow[]>`
    select t.id as "credentialId", t.user_id as "userId", t.expires_at as "expiresAt",
      (extract(epoch from least(t.expires_at, t.last_used_at + make_interval(hours => ${idleHours})) - now()) * 1000)::float8 as "endsInMs",
      t.last_used_at < now() - interval '5 minutes' as "useIsStale", ${confirmedMsAgo(sql)} as "confirmedMsAgo"
    from browser_sessions t
    where t.digest = ${digest} and ${liveSession(sql)}`;
  return row;
}

const missing = (name: string, what: string) =>
  badRequest(`${name} header required: it names ${what} shown in the dashboard`);

/** The named environment and the user's role there. 404 if it does not exist or the user has no access to it, with identical responses. */
export async function environmentFor(
  sql: Sql,
  userId: string,
  { project, environment: name, branch: header, wholeEnvironment }: NamedEnvironment,
): Promise<{ environment: Environment; role: Role }> {
  if (!project) throw missing('x-millrace-project', 'the project');
  if (!name) throw missing('x-millrace-environment', 'the environment');
  const kind = environmentKind(name);
  if (kind === undefined)
    throw badRequest(
      `x-millrace-environment: "${name.slice(0, 32)}" is not one of ${environmentKinds.join(', ')}`,
    );
  const branch = wholeEnvironment ? undefined : branchOfKind(kind, branchName(header));
  if (kind === 'preview' && branch === undefined && !wholeEnvironment)
    throw badRequest('x-trigger-branch header required for the preview environment: choose a branch');
  const [row] = await sql<{ environment: Environment; role: Role }[]>`
    select ${environment(sql)}, m.role
      from environments e join projects p on p.id = e.project_id
      join memberships m on m.organization_id = p.organization_id and m.user_id = ${userId}
      left join environments parent on parent.id = e.parent_id
     where p.ref = ${project} and p.deleted_at is null and e.kind = ${kind} and e.branch is not distinct from ${branch ?? null}::text
       and e.archived_at is null and ${seenBy(sql, userId)}`;
  if (!row) throw notFound('Project, environment or branch not found', false, 'environment_not_found');
  return row;
}

/** The permissions of a role in an environment, as scopes. */
export const scopesOfRole: Readonly<Record<Role, readonly string[]>> = {
  viewer: ['read:all'],
  member: ['read:all', 'write:all'],
  admin: ['admin'],
  owner: ['admin'],
};
