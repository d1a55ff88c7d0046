import { newId } from '../../db/ids.ts';
import type { Queryable, Sql } from '../../db/connect.ts';
import type { Principal } from '../../auth/principal.ts';
import { errorGroupId } from '../record/group-id.ts';
import { introduce } from '../record/cached-fingerprints.ts';

/** A separate environment for a test. */
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

/** Deploys versions of an environment in this order; returns their ids. */
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
  /** Also distinguishes its group. */
  readonly message?: string;
  readonly task?: string;
  readonly type?: string;
  readonly version?: number | null;
  readonly started?: Date | null;
  readonly older?: readonly string[];
}

export const groupOf = (env: number, { task = 'task', message = 'boom' }: Failure = {}): string =>
  errorGroupId(String(env), task, message);

/** Records failed runs in one call, as ending a run does. */
export async function recordFailures(sql: Queryable, env: number, at: Date, failures: readonly Failure[]) {
  const introduced = await introduce(
    sql,
    failures.map((failure) => {
      const { task = 'task', message = 'boom', type = 'Error', older = [] } = failure;
      const sample = () => JSON.stringify({ message });
      return { env, task, fingerprint: message, older, group: groupOf(env, failure), type, message, sample };
    }),
    at,
  );
  await sql`
    insert into error_arrivals (env, fingerprint_id, version, at, started, n)
    select ${env}, i.id, coalesce(i.version, 0), date_trunc('milliseconds', ${at}::timestamptz),
           max(coalesce(i.started, ${at}::timestamptz)), count(*)
      from unnest(${introduced}::int[], ${failures.map(({ version }) => version ?? null)}::int[],
                  ${failures.map(({ started }) => started?.toISOString() ?? null)}::timestamptz[]) as i (id, version, started)
     group by i.id, i.version`;
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
  signerId: 'key_1',
  expiresAt: new Date(8.64e15),
  actor: 'user_ann',
};
