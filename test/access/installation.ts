import { createHmac, randomBytes } from 'node:crypto';
import { onTestFinished } from 'vitest';
import type { EnvironmentKind } from '@millrace/contract';
import { masterKeyOf, seal, secretKeyContext } from '../../packages/server/src/auth/seal.ts';
import { credentialDigest, lastFour, newSecretKey } from '../../packages/server/src/auth/keys.ts';
import { connect, type Sql } from '../../packages/server/src/db/connect.ts';
import { newId } from '../../packages/server/src/db/ids.ts';
import { createLog } from '../../packages/server/src/logger.ts';
import { startServer, type RunningServer, type ServerOptions } from '../../packages/server/src/server.ts';
import type { Credentials } from '../../packages/server/src/tenancy/bootstrap.ts';
import { testDatabase } from '../support/database.ts';
import { patientAdmission } from '../support/patient-admission.ts';
import { newTenancy } from '../support/shared-server.ts';

export const masterKey = masterKeyOf(Buffer.alloc(32, 1));

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // Replies have any shape.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any;
}

export interface Ask {
  readonly key?: string | undefined;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly server?: Pick<RunningServer, 'url'>;
}

export interface Installation {
  readonly server: RunningServer;
  /** A shared installation also contains the rows of other tests. */
  readonly sql: Sql;
  readonly projectRef: string;
  readonly organization: string;
  readonly token: string;
  readonly keys: Readonly<Record<EnvironmentKind, string>>;
  readonly logged: readonly string[];
  /** Another process on the same database. */
  another(other?: Partial<ServerOptions>): Promise<RunningServer>;
  /** `ask('POST /api/v1/orgs', { key, body })` */
  ask(request: string, options?: Ask): Promise<Answer>;
  /** A secret key with any scopes, also those that no preset has. */
  keyWith(scopes: readonly string[], kind?: EnvironmentKind): Promise<string>;
  /** As the published SDK signs: the key's text is the HMAC key. */
  sign(key: string, claims: Record<string, unknown>, header?: Record<string, unknown>): string;
  publicIdOf(kind: EnvironmentKind): Promise<string>;
  /** A user with a role in the organization. */
  userWith(role: string): Promise<{ id: string; token: string; email: string }>;
}

/** An installation on the server of this worker, without the parts that all tests share. */
export interface SharedInstallation extends Omit<Installation, 'server' | 'logged' | 'another'> {
  readonly server: Pick<RunningServer, 'url' | 'port'>;
}

const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A server whose database the test can access. */
export async function installation(options: Partial<ServerOptions> = {}): Promise<Installation> {
  const { connection, drop } = await testDatabase();
  const logged: string[] = [];
  const sql = connect(connection, { name: 'test', max: 4 });
  const servers: RunningServer[] = [];
  const start = async (other: Partial<ServerOptions> = {}): Promise<RunningServer> => {
    const server = await startServer({
      database: connection,
      port: 0,
      masterKey,
      log: createLog({ write: (line) => void logged.push(line) }),
      rateLimits: {},
      admissionLimits: patientAdmission,
      ...options,
      ...other,
    });
    servers.push(server);
    return server;
  };
  const server = await start();
  onTestFinished(async () => {
    await Promise.all(servers.map((each) => each.close()));
    await sql.end();
    await drop();
  });
  const { credentials } = server;
  if (!credentials) throw new Error('a first start prints its credentials');
  return { ...(await clientOf(server, sql, credentials)), server, logged, another: start };
}

/** An organization with its own project, on the server of this worker. */
export async function sharedInstallation(): Promise<SharedInstallation> {
  const { server, sql, credentials } = await newTenancy();
  // An e-mail address belongs to one user of the installation.
  return clientOf(server, sql, credentials, `.${randomBytes(4).toString('hex')}@example.com`);
}

async function clientOf(
  server: Pick<RunningServer, 'url' | 'port'>,
  sql: Sql,
  { environments, projectRef, personalAccessToken }: Credentials,
  mailbox = '@example.com',
): Promise<SharedInstallation> {
  const token = personalAccessToken ?? '';
  const keyOf = (kind: EnvironmentKind): string => environments[kind].secretKey ?? '';
  const [project] = await sql<{ organization: string }[]>`
    select organization_id as organization from projects where ref = ${projectRef}`;
  const organization = project?.organization ?? '';

  async function ask(request: string, { key = token, body, headers, server: to = server }: Ask = {}) {
    const [method, path] = request.split(' ');
    const response = await fetch(`${to.url}${path}`, {
      method: method ?? 'GET',
      headers: { ...(key !== '' && { authorization: `Bearer ${key}` }), ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: text === '' ? undefined : JSON.parse(text),
    };
  }

  return {
    server,
    sql,
    projectRef,
    token,
    organization,
    keys: { dev: keyOf('dev'), stg: keyOf('stg'), prod: keyOf('prod'), preview: keyOf('preview') },
    ask,
    async keyWith(scopes, kind = 'prod') {
      const text = newSecretKey(kind);
      const id = newId('key');
      await sql`
        insert into secret_keys (id, environment_id, digest, sealed, last_four, name, scopes)
        select ${id}, e.id, ${credentialDigest(text)}, ${seal(masterKey, text, secretKeyContext(id))}, ${lastFour(text)}, 'x', ${scopes}
        from environments e join projects p on p.id = e.project_id
        where p.ref = ${projectRef} and e.kind = ${kind} and e.branch is null order by e.id limit 1`;
      return text;
    },
    sign(key, claims, header = { alg: 'HS256' }) {
      const now = Math.floor(Date.now() / 1_000);
      const all = {
        pub: true,
        iss: 'https://id.trigger.dev',
        aud: 'https://api.trigger.dev',
        iat: now,
        exp: now + 900,
        ...claims,
      };
      const signed = `${base64(header)}.${base64(all)}`;
      return `${signed}.${createHmac('sha256', key).update(signed).digest('base64url')}`;
    },
    async publicIdOf(kind) {
      const [row] = await sql<{ id: string }[]>`
        select e.public_id as id from environments e join projects p on p.id = e.project_id
         where p.ref = ${projectRef} and e.kind = ${kind} and e.branch is null order by e.id limit 1`;
      return row?.id ?? '';
    },
    async userWith(role) {
      const email = role + mailbox;
      const invited = await ask(`POST /api/v1/orgs/${organization}/invites`, {
        body: { email, role },
      });
      const joined = await ask('POST /api/v1/invites/join', {
        key: '',
        body: { token: invited.body.token, name: role },
      });
      return {
        id: joined.body.userId as string,
        token: joined.body.personalAccessToken as string,
        email,
      };
    },
  };
}
