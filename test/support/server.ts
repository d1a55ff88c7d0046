import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { masterKeyOf } from '../../packages/server/src/auth/seal.ts';
import { connect, type Database, type Sql } from '../../packages/server/src/db/connect.ts';
import { createLog } from '../../packages/server/src/logger.ts';
import { createTenancy, type Credentials } from '../../packages/server/src/tenancy/bootstrap.ts';
import { startServer, type RunningServer, type ServerOptions } from '../../packages/server/src/server.ts';
import { checkedErrorCode } from './error-code.ts';
import { testDatabase } from './database.ts';
import { patientAdmission } from './patient-admission.ts';

export interface TestServer extends RunningServer {
  /** The data folder. */
  readonly database: Database;
  /** Secret keys by environment. */
  readonly keys: Readonly<Record<'dev' | 'stg' | 'prod' | 'preview', string>>;
  readonly projectRef: string;
  readonly personalAccessToken: string;
  /** The lines of its log. */
  readonly logged: readonly string[];
  /** Sends a request with the key of an environment. Returns status, headers and the JSON body. */
  ask(path: string, options?: AskOptions): Promise<Answer>;
}

export interface AskOptions {
  readonly method?: string;
  readonly body?: unknown;
  /** Default: the prod key. */
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // The test checks the content of the reply.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any;
}

/** The default master key of servers that tests start. */
export const masterKey = masterKeyOf(Buffer.alloc(32, 1));

/** A real server with its own database, stopped when the test ends. */
export const testServer = (options: Partial<ServerOptions> = {}): Promise<TestServer> =>
  startTestServer((end) => onTestFinished(end), options);

/** A real server with its own `close`, which several tests may share. */
export async function startTestServer(
  onEnd: (end: () => Promise<void>) => void,
  options: Partial<ServerOptions> = {},
): Promise<TestServer> {
  const { connection, drop } = await testDatabase();
  const logged: string[] = [];
  const server = await startServer({
    database: connection,
    port: 0,
    masterKey,
    log: createLog({ write: (line) => void logged.push(line) }),
    admissionLimits: patientAdmission,
    ...options,
  });
  onEnd(async () => {
    await server.close();
    await drop();
  });
  const { credentials } = server;
  if (!credentials) throw new Error('The first start did not return credentials.');
  return Object.assign(server, { database: connection, logged, ...clientOf(server.url, credentials) });
}

/**
 * One server for all tests of a file. Call it at the top of the file; the returned function creates an organization for each test.
 *
 * @example
 * const newTenant = serverOfFile();
 * test('…', async () => {
 *   const server = await newTenant();
 */
export function serverOfFile(options: Partial<ServerOptions> = {}): () => Promise<TestServer> {
  let server: TestServer;
  const ends: (() => Promise<void>)[] = [];
  beforeAll(async () => {
    server = await startTestServer((end) => ends.push(end), options);
  }, 120_000);
  afterAll(async () => {
    for (const end of ends) await end();
  });
  return () => tenantOf(server);
}

/** The same server for a new organization, with its own project and keys, as after a first start. */
export async function tenantOf(server: TestServer): Promise<TestServer> {
  const sql = connect(server.database, { name: 'test', max: 1 });
  const credentials = await createTenant(sql).finally(() => sql.end());
  return { ...server, ...clientOf(server.url, credentials) };
}

/** Credentials of a new organization with a project, as created by the first start of a server. */
export const createTenant = (sql: Sql): Promise<Credentials> =>
  sql.begin((tx) => createTenancy(tx, { masterKey, reveal: false }));

/** The credentials with which tests call a server. */
export function clientOf(
  url: string,
  { environments, projectRef, personalAccessToken }: Credentials,
): Pick<TestServer, 'keys' | 'projectRef' | 'personalAccessToken' | 'ask'> {
  const keyOf = (kind: keyof typeof environments): string => environments[kind].secretKey ?? '';
  const keys = { dev: keyOf('dev'), stg: keyOf('stg'), prod: keyOf('prod'), preview: keyOf('preview') };
  return {
    keys,
    projectRef,
    personalAccessToken: personalAccessToken ?? '',
    async ask(path: string, { method = 'GET', body, key = keys.prod, headers }: AskOptions = {}) {
      const response = await fetch(url + path, {
        method,
        headers: { ...(key !== '' && { authorization: `Bearer ${key}` }), ...headers },
        body: body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body),
      });
      const text = await response.text();
      const reply = text === '' ? undefined : JSON.parse(text);
      checkedErrorCode(response, reply);
      return { status: response.status, headers: response.headers, body: reply };
    },
  };
}
