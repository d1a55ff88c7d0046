import { environmentKind, type EnvironmentKind } from '@millrace/contract';
import { branchName } from '../auth/branch.ts';
import { environment } from '../auth/look-up.ts';
import type { Environment, Principal } from '../auth/principal.ts';
import { environmentSlug } from '../auth/slug.ts';
import type { Sql } from '../db/connect.ts';
import { badRequest, notFound } from '../problem.ts';

/** Which environment a call is about, as its path and its headers say it. */
export interface Address {
  readonly projectRef: string;
  readonly env: string;
  readonly serviceBranch: string | undefined;
  readonly triggerBranch: string | undefined;
}

/**
 * The environment that a call is about. A secret key has its own, which the path must name; a personal access token, whose user is
 * known to be a member of the project, names one of it.
 */
export async function findTarget(sql: Sql, principal: Principal, address: Address): Promise<Environment> {
  if (principal.kind !== 'personalAccessToken') return ownEnvironment(principal.environment, address);
  const kind = environmentKind(address.env);
  if (kind === undefined) return bySlug(sql, address);
  const branch = branchIn(kind, address);
  const [row] = await sql<{ environment: Environment }[]>`
    select ${environment(sql)} from environments e join projects p on p.id = e.project_id
     where p.ref = ${address.projectRef} and e.kind = ${kind} and e.branch is not distinct from ${branch ?? null}::text
       and e.archived_at is null`;
  if (row) return row.environment;
  throw notFound(branch === undefined ? 'Environment not found' : 'Branch not found');
}

export const otherProject = (own: string) =>
  badRequest(`Invalid project ref for this API key: it is a key of ${own}`);

function ownEnvironment(own: Environment, { projectRef, env }: Address): Environment {
  if (projectRef !== own.projectRef) {
    throw otherProject(own.projectRef);
  }
  if (environmentKind(env) === own.kind || env === environmentSlug(own.kind, own.branch)) return own;
  throw badRequest(`Invalid environment for this API key: it is a key of ${own.kind}`);
}

/** Only preview and dev have branches: hosts set the branch variable in production too, where it must change nothing. */
function branchIn(kind: EnvironmentKind, { serviceBranch, triggerBranch }: Address): string | undefined {
  if (kind === 'prod' || kind === 'stg') return undefined;
  const branch = branchName(serviceBranch) ?? branchName(triggerBranch);
  return kind === 'dev' && branch === 'default' ? undefined : branch;
}

/** A branch as runs are told of theirs. Two branches may be written the same: then the header must say which. */
async function bySlug(sql: Sql, { projectRef, env: slug }: Address): Promise<Environment> {
  const rows = await sql<{ environment: Environment }[]>`
    select ${environment(sql)} from environments e join projects p on p.id = e.project_id
     where p.ref = ${projectRef} and e.branch is not null and e.archived_at is null`;
  const found = rows.filter((row) => environmentSlug(row.environment.kind, row.environment.branch) === slug);
  if (found.length === 1 && found[0]) return found[0].environment;
  if (found.length === 0) throw notFound('Environment not found');
  throw badRequest(`${slug} is the name of several branches: send the branch as x-service-branch`);
}
