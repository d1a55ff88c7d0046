import { onTestFinished } from 'vitest';
import { testDatabase } from '../../../../../test/support/database.ts';
import { newTenancy } from '../../../../../test/support/shared-server.ts';
import { credentialDigest, lastFour, newSecretKey } from '../../auth/keys.ts';
import { masterKeyOf, seal, secretKeyContext } from '../../auth/seal.ts';
import { connect, type Database, type Sql } from '../../db/connect.ts';
import { newId } from '../../db/ids.ts';
import { createLog } from '../../logger.ts';
import { startServer, type RunningServer, type ServerOptions } from '../../server.ts';
import type { Credentials } from '../../tenancy/bootstrap.ts';

export const masterKey = masterKeyOf(Buffer.alloc(32, 1));

interface Called {
  readonly status: number;
  readonly body: unknown;
}

/** A project on the server of this worker. */
export interface VariableServer {
  readonly server: Pick<RunningServer, 'url'>;
  /** Shared by all tests of the worker, unless the server is the test's own. */
  readonly sql: Sql;
  readonly credentials: Credentials;
  readonly ref: string;
  readonly pat: string;
  key(kind: 'dev' | 'stg' | 'prod' | 'preview'): string;
  /** `path` is relative to /api/v1/projects/<ref>/ unless it begins with a slash. */
  call(
    method: string,
    path: string,
    options?: {
      readonly as?: string;
      readonly body?: unknown;
      readonly branch?: string;
      readonly headers?: Record<string, string>;
    },
  ): Promise<Called>;
  /** Another key, with its own scopes. */
  addKey(kind: 'dev' | 'prod', scopes: string[]): Promise<string>;
  addBranch(kind: 'dev' | 'preview', branch: string): Promise<number>;
}

interface OwnVariableServer extends VariableServer {
  readonly server: RunningServer;
  readonly database: Database;
  /** All log lines. */
  readonly logged: string[];
}

export async function variableServer(): Promise<VariableServer> {
  const { server, sql, credentials } = await newTenancy();
  return clientOf(server, sql, credentials);
}

/** Starts a real server on a new database. */
export async function startVariableServer(options: Partial<ServerOptions> = {}): Promise<OwnVariableServer> {
  const { connection: database, drop } = await testDatabase();
  const logged: string[] = [];
  const server = await startServer({
    database,
    port: 0,
    masterKey,
    reveal: true,
    log: createLog({ write: (line) => void logged.push(line) }, 'debug'),
    ...options,
  });
  const sql = connect(database, { name: 'test', max: 2 });
  onTestFinished(async () => {
    await server.close();
    await sql.end();
    await drop();
  });
  const { credentials } = server;
  if (!credentials) throw new Error('The first start returned no credentials.');
  return { ...clientOf(server, sql, credentials), server, database, logged };
}

function clientOf(server: Pick<RunningServer, 'url'>, sql: Sql, credentials: Credentials): VariableServer {
  const key: VariableServer['key'] = (kind) => credentials.environments[kind].secretKey ?? '';
  const ref = credentials.projectRef;
  return {
    server,
    sql,
    credentials,
    ref,
    pat: credentials.personalAccessToken ?? '',
    key,
    async call(method, path, { as = key('prod'), body, branch, headers = {} } = {}) {
      const response = await fetch(
        `${server.url}${path.startsWith('/') ? path : `/api/v1/projects/${ref}/${path}`}`,
        {
          method,
          headers: {
            authorization: `Bearer ${as}`,
            ...(branch !== undefined && { 'x-service-branch': branch }),
            ...(body !== undefined && !(body instanceof FormData) && { 'content-type': 'application/json' }),
            ...headers,
          },
          ...(body !== undefined && {
            body: body instanceof FormData || typeof body === 'string' ? body : JSON.stringify(body),
          }),
        },
      );
      const text = await response.text();
      return { status: response.status, body: text === '' ? undefined : (JSON.parse(text) as unknown) };
    },
    async addKey(kind, scopes) {
      const text = newSecretKey(kind);
      const id = newId('key');
      await sql`
        insert into secret_keys (id, environment_id, digest, sealed, last_four, name, scopes)
        select ${id}, e.id, ${credentialDigest(text)}, ${seal(masterKey, text, secretKeyContext(id))}, ${lastFour(text)},
               'another', ${scopes}
          from environments e join projects p on p.id = e.project_id
         where p.ref = ${ref} and e.kind = ${kind} and e.branch is null`;
      return text;
    },
    async addBranch(kind, branch) {
      const [row] = await sql<{ id: number }[]>`
        insert into environments (public_id, project_id, kind, branch, parent_id)
        select ${newId('env')}, e.project_id, e.kind, ${branch}, e.id
          from environments e join projects p on p.id = e.project_id
         where p.ref = ${ref} and e.kind = ${kind} and e.branch is null
        returning id`;
      return row?.id ?? 0;
    },
  };
}

/** All rows of all tables as text. */
export async function dump(sql: Sql): Promise<string> {
  const tables = await sql<{ name: string }[]>`
    select quote_ident(tablename) as name from pg_tables where schemaname = 'public' order by tablename`;
  const parts: string[] = [];
  for (const { name } of tables) {
    const rows = await sql.unsafe<{ row: string }[]>(`select t::text as row from ${name} t order by 1`);
    parts.push(name, ...rows.map(({ row }) => row));
  }
  return parts.join('\n');
}
