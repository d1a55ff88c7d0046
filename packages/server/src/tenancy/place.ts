import { environmentKind, type EnvironmentKind } from '@millrace/contract';
import { environment } from '../auth/look-up.ts';
import type { Environment } from '../auth/principal.ts';
import type { Queryable, Sql } from '../db/connect.ts';
import { notFound } from '../problem.ts';

/** The environment that a path names by project and name; its own branch, or that of a header. 404 if there is none. */
export async function environmentAt(
  sql: Sql,
  { projectRef, env }: { readonly projectRef: string; readonly env: string },
  branch?: string,
): Promise<Environment> {
  const kind = environmentKind(env);
  if (kind === undefined) throw notFound('Environment not found');
  const found = await environmentOfKind(sql, projectRef, kind, branch);
  if (!found) throw notFound(branch === undefined ? 'Environment not found' : 'Branch not found');
  return found;
}

/** The live environment of a kind, or a live branch of it. */
export async function environmentOfKind(
  sql: Queryable,
  projectRef: string,
  kind: EnvironmentKind,
  branch?: string,
): Promise<Environment | undefined> {
  const [row] = await sql<{ environment: Environment }[]>`
    select ${environment(sql as Sql)} from environments e join projects p on p.id = e.project_id
     where p.ref = ${projectRef} and e.kind = ${kind} and e.branch is not distinct from ${branch ?? null}::text
       and e.archived_at is null`;
  return row?.environment;
}
