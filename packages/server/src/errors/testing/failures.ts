import { newId } from '../../db/ids.ts';
import type { Queryable, Sql } from '../../db/connect.ts';
import type { Principal } from '../../auth/principal.ts';
import { errorGroupId } from '../fingerprint/index.ts';

/** An environment of its own for a test. */
export async function newEnvironment(sql: Sql): Promise<number> {
  const organization = newId('org');
  await sql`insert into organizations (id, name) values (${organization}, 'Test')`;
  const [row] = await sql<{ id: number }[]>`
    with project as (
      insert into projects (ref, organization_id, name) values (${newId('proj')}, ${organization}, 'Test') returning id
    )
    insert into environments (public_id, project_id, kind) select ${newId('env')}, id, 'dev' from project returning id`;
  if (!row) throw new Error('The environment was not created.');
  return row.id;
}

/** Versions of an environment in the order in which they were deployed; their ids. */
export async function deploy(sql: Sql, env: number, ...versions: string[]): Promise<number[]> {
  const ids: number[] = [];
  for (const version of versions) {
    const [row] = await sql<{ id: number }[]>`
      insert into versions (env, version, sequence, content_hash)
      values (${env}, ${version}, (select coalesce(max(sequence), 0) + 1 from versions where env = ${env}), ${version})
      returning id`;
    if (row) ids.push(row.id);
  }
  return ids;
}

export interface Failure {
  readonly run?: string;
  /** Also what its group is told apart by. */
  readonly message?: string;
  readonly task?: string;
  readonly type?: string;
  readonly version?: number | null;
  readonly started?: Date | null;
}

export const groupOf = (env: number, { task = 'task', message = 'boom' }: Failure = {}): string =>
  errorGroupId(String(env), task, message);

/** Records failed runs as the end of a run does, in one call. */
export async function recordFailures(sql: Queryable, env: number, at: Date, failures: readonly Failure[]) {
  const pick = <V>(read: (failure: Failure) => V) => failures.map(read);
  await sql`
    select record_errors(
      ${at}, ${pick(() => env)}::int[], ${pick((failure) => failure.run ?? newId('run'))}::text[],
      ${pick(({ task = 'task' }) => task)}::text[], ${pick(({ message = 'boom' }) => message)}::text[],
      ${pick((failure) => groupOf(env, failure))}::text[], ${pick(({ type = 'Error' }) => type)}::text[],
      ${pick(({ message = 'boom' }) => message)}::text[], ${pick(({ version = null }) => version)}::int[],
      ${pick(({ message = 'boom' }) => JSON.stringify({ message }))}::text[]::jsonb[],
      ${pick(({ started }) => started?.toISOString() ?? null)}::timestamptz[])`;
}

export const secretKey: Principal = {
  kind: 'secretKey',
  credentialId: 'key_test',
  environment: {
    id: 0,
    publicId: 'env_test',
    kind: 'dev',
    branch: null,
    projectId: 0,
    projectRef: 'proj_test',
  },
  scopes: ['admin'],
};

export const userToken: Principal = {
  ...secretKey,
  kind: 'publicToken',
  credentialId: 'token_test',
  tokenDigest: 'digest_test',
  expiresAt: new Date(8.64e15),
  actor: 'user_ann',
};
