import type { Deployment } from '@millrace/contract';
import type { Queryable } from '../db/connect.ts';
import { notFound } from '../problem.ts';
import { deploymentOf, readDeployments } from './show.ts';

/** The newest deployment of an environment. 404 if it has none. */
export async function retrieveLatest(sql: Queryable, env: number, now: Date): Promise<Deployment> {
  const some = sql`select id from versions where env = ${env} order by sequence desc limit 1`;
  const [row] = await readDeployments(sql, env, some, now);
  if (!row) throw notFound('Nothing has been deployed to this environment yet.');
  return deploymentOf(row);
}

/** The current deployment of an environment. 404 if it has none. */
export async function retrieveCurrent(sql: Queryable, env: number, now: Date): Promise<Deployment> {
  const some = sql`select version_id from current_versions where env = ${env}`;
  const [row] = await readDeployments(sql, env, some, now);
  if (!row) throw notFound('This environment has no current version: promote one.');
  return deploymentOf(row);
}
