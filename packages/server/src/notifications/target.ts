import { environmentKind } from '@millrace/contract';
import { branchName } from '../auth/branch.ts';
import { environment } from '../auth/look-up.ts';
import type { Environment, Principal } from '../auth/principal.ts';
import { environmentSlug } from '../auth/slug.ts';
import type { Sql } from '../db/connect.ts';
import { badRequest, notFound } from '../problem.ts';

export interface Address {
  readonly projectRef: string;
  readonly env: string;
  readonly branch: string | undefined;
}

/**
 * The environment that a path names. A secret key has its own, which the path must name; that a user may see the project has been
 * seen to before.
 */
export async function findTarget(sql: Sql, principal: Principal, address: Address): Promise<Environment> {
  const { projectRef, env } = address;
  const kind = environmentKind(env);
  if (principal.kind !== 'personalAccessToken') {
    const own = principal.environment;
    if (projectRef !== own.projectRef) {
      throw badRequest(`Invalid project ref for this API key: it is a key of ${own.projectRef}`);
    }
    if (kind === own.kind || env === environmentSlug(own.kind, own.branch)) return own;
    throw badRequest(`Invalid environment for this API key: it is a key of ${own.kind}`);
  }
  if (kind === undefined) throw notFound('Environment not found');
  const branch = kind === 'dev' || kind === 'preview' ? branchName(address.branch) : undefined;
  const [row] = await sql<{ environment: Environment }[]>`
    select ${environment(sql)} from environments e join projects p on p.id = e.project_id
     where p.ref = ${projectRef} and e.kind = ${kind} and e.branch is not distinct from ${branch ?? null}::text
       and e.archived_at is null`;
  if (!row) throw notFound(branch === undefined ? 'Environment not found' : 'Branch not found');
  return row.environment;
}
