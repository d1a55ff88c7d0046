import type { Deployment, DeploymentDetails } from '@millrace/contract';
import type { Queryable } from '../../db/connect.ts';
import { notFound } from '../../problem.ts';
import { findVersion } from './find.ts';
import { deploymentOf, readDeployments, showDeployment } from './show.ts';

/** The newest deployment of an environment. 404 if it has none. */
export async function retrieveLatest(sql: Queryable, env: number, now: Date): Promise<Deployment> {
  const some = sql`select id from versions where env = ${env} order by sequence desc limit 1`;
  const [row] = await readDeployments(sql, env, some, now);
  if (!row) throw notFound('Nothing has been deployed to this environment yet.', false, 'no_current_version');
  return deploymentOf(row);
}

/** The current deployment of an environment. 404 if it has none. */
export async function retrieveCurrent(sql: Queryable, env: number, now: Date): Promise<Deployment> {
  const some = sql`select version_id from current_versions where env = ${env}`;
  const [row] = await readDeployments(sql, env, some, now);
  if (!row)
    throw notFound('This environment has no current version: promote one.', false, 'no_current_version');
  return deploymentOf(row);
}

/** A deployment with the tasks that it declares. 404 if the environment has no such version. */
export async function retrieveDeployment(
  sql: Queryable,
  env: number,
  idOrVersion: string,
  now: Date,
): Promise<DeploymentDetails> {
  const version = await findVersion(sql, env, idOrVersion);
  const deployment = await showDeployment(sql, env, version, now);
  const declaredTasks = await sql<DeploymentDetails['declaredTasks']>`
    select id, manifest->>'filePath' as "filePath", manifest->>'description' as description,
           payload_schema as "payloadSchema", payload_schema_note as "payloadSchemaNote"
      from tasks where version_id = ${version.id} order by id`;
  return { ...deployment, declaredTasks: [...declaredTasks] };
}
