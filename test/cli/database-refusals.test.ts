import { createServer, type AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { connect, type Sql } from '../../packages/server/src/db/connect.ts';
import { ping } from '../../packages/server/src/db/ping.ts';
import { findRoutes } from '../../packages/server/src/db/routes.ts';
import { hasOpenssl, tcpPostgres, type TcpPostgres } from '../support/tcp-postgres.ts';
import { temporaryProject, type Folder } from './command.ts';
import { finished } from './in-process.ts';

const sentence = /^millrace: [^\n]+$/;
const secret = 'hunter2';

let folder: Folder;
let plain: TcpPostgres;
let standby: TcpPostgres;
let admin: Sql;
beforeAll(async () => {
  folder = await temporaryProject({});
  plain = await tcpPostgres(
    [
      'host all boss 127.0.0.1/32 scram-sha-256',
      'host all guest 127.0.0.1/32 scram-sha-256',
      'host all single 127.0.0.1/32 scram-sha-256',
      'host all stranger 127.0.0.1/32 reject',
    ],
    { max_connections: 20 },
  );
  standby = await tcpPostgres(['host all boss 127.0.0.1/32 scram-sha-256'], {}, { standby: true });
  admin = connect(at('boss', 'b0ss'), { name: 'test', max: 1 });
  await admin.unsafe(`
    create role guest login password '${secret}';
    create role single login password '${secret}' connection limit 0;
    create role stranger login password '${secret}'`);
  await admin.unsafe('create database latin encoding latin1 template template0');
  await admin.unsafe('create database locked');
  await admin.unsafe('alter database locked set default_transaction_read_only to on');
  await admin.unsafe('create database closed');
  await admin.unsafe('revoke connect on database closed from public');
}, 60_000);
afterAll(async () => {
  await admin?.end();
  await plain?.stop();
  await standby?.stop();
  await folder.remove();
});

const at = (user: string, password: string, rest = 'postgres', port = plain.port, host = '127.0.0.1') =>
  `postgresql://${user}:${password}@${host}:${port}/${rest}`;

async function start(url: string, args: readonly string[] = []) {
  const { exitCode, stdout, stderr } = await finished(['start', '--port', '0', ...args], {
    cwd: folder.path,
    env: { DATABASE_URL: url, MILLRACE_MASTER_KEY: '7'.repeat(64) },
  });
  expect({ exitCode, stdout }).toEqual({ exitCode: 3, stdout: '' });
  expect(stderr).toMatch(sentence);
  expect(stderr).not.toContain(secret);
  return stderr;
}

async function refusal(url: string): Promise<string> {
  const error: unknown = await ping(url).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ name: 'DatabaseRefused' });
  const { message } = error as Error;
  expect(message).not.toContain(secret);
  expect(message).toMatch(/^[A-Z][^\n]+\.$/);
  return message;
}

describe('a database that cannot be used is rejected with one sentence, no stack and no password', () => {
  test('a role that may not create tables', async () => {
    expect(await start(at('guest', secret))).toMatch(
      /The role in DATABASE_URL lacks permissions.*permission denied.*grant usage, create on schema public/,
    );
  });

  test('a wrong password', async () => {
    const output = await start(at('guest', 'wrong'));
    expect(output).toContain(`127.0.0.1:${plain.port}/postgres`);
    expect(output).toMatch(/rejects the password.*%40/);
  });

  test('an unknown host, of the database or to listen on', async () => {
    expect(await start(at('guest', secret, 'postgres', 5432, 'nowhere.invalid'))).toMatch(
      /nowhere\.invalid.*(host was not found|cannot be resolved)/,
    );
    expect(await start(at('boss', 'b0ss'), ['--host', 'nowhere.invalid'])).toMatch(
      /no address nowhere\.invalid.*--host/,
    );
  });

  test.each([
    ['no such database', () => at('guest', secret, 'none'), /no database with this name.*createdb/],
    ['a rule that rejects', () => at('stranger', secret), /rejects this role from this host.*pg_hba/],
    ['no rule at all', () => at('ghost', secret), /rejects this role from this host.*pg_hba/],
    [
      'no password',
      () => `postgresql://guest@127.0.0.1:${plain.port}/postgres`,
      /requires a password and DATABASE_URL has none/,
    ],
    ['a role without a connection left', () => at('single', secret), /no connections left.*max_connections/],
    ['a database that is read-only', () => at('boss', 'b0ss', 'locked'), /read-only.*primary/],
    [
      'a database that the role may not connect to',
      () => at('guest', secret, 'closed'),
      /may not connect.*CONNECT/,
    ],
    ['an encoding that does not support every character', () => at('boss', 'b0ss', 'latin'), /LATIN1.*UTF8/],
    ['a port without a listener', () => at('guest', secret, 'postgres', 1), /nothing is listening there/],
    [
      'a server without TLS',
      () => at('boss', 'b0ss', 'postgres?sslmode=require'),
      /does not support TLS.*sslmode=disable/,
    ],
    [
      'a missing file',
      () => at('boss', 'b0ss', 'postgres?sslmode=verify-full&sslrootcert=/none.pem'),
      /\/none\.pem.*cannot be read/,
    ],
    [
      'verify-ca without an authority',
      () => at('boss', 'b0ss', 'postgres?sslmode=verify-ca'),
      /verify-ca requires sslrootcert/,
    ],
    [
      'an unknown sslmode',
      () => at('boss', 'b0ss', 'postgres?sslmode=bogus'),
      /DATABASE_URL has the unknown sslmode "bogus": .*disable, allow, prefer, require, verify-ca, verify-full/,
    ],
    [
      'the last of several',
      () => at('boss', 'b0ss', 'postgres?sslmode=disable&sslmode=Require'),
      /"Require"/,
    ],
    ['none', () => at('boss', 'b0ss', 'postgres?sslmode='), /unknown sslmode ""/],
    [
      'a socket folder without a socket',
      () => 'postgresql://guest@localhost/postgres?host=/none',
      /no PostgreSQL socket/,
    ],
  ])('%s', async (_, url, expected) => {
    expect(await refusal(url())).toMatch(expected);
  });

  test('an unknown sslmode, at the start of a server', async () => {
    expect(await start(at('boss', 'b0ss', 'postgres?sslmode=bogus'))).toMatch(
      /unknown sslmode "bogus".*verify-full/,
    );
  });

  test.each([
    ['that cannot be read', () => `postgresql://boss:${secret}@127.0.0.1:port/postgres`, /an invalid host/],
    [
      'of something else',
      () => `mysql://boss:${secret}@127.0.0.1/postgres`,
      /not the address of a PostgreSQL/,
    ],
    [
      'of several hosts, none of which answers',
      () => `postgresql://boss:${secret}@127.0.0.1:1,127.0.0.1:2/postgres?target_session_attrs=read-write`,
      /none of its hosts can be connected to \(127\.0\.0\.1:1: nothing is listening there/,
    ],
    [
      'of a standby',
      () => at('boss', 'b0ss', 'postgres', standby.port),
      /^The database in DATABASE_URL is read-only, like a standby: use the address of the primary\.$/,
    ],
    ['of a read-only database', () => at('boss', 'b0ss', 'locked'), /is read-only, like a standby/],
    [
      'of a dead name and a standby',
      () => `postgresql://boss:b0ss@nowhere.invalid,127.0.0.1:${standby.port}/postgres`,
      /none of its hosts accepts writes \(nowhere\.invalid:5432: .*; 127\.0\.0\.1:\d+: it is read-only, like a standby\)/,
    ],
  ])('an address %s, with the same sentence by start and doctor', async (_, url, expected) => {
    const refused = (await start(url())).replace(/^millrace: /, '').replace(/ See: .*$/, '');
    expect(refused).toMatch(expected);
    const { exitCode, stdout } = await finished(['doctor', '--json', '--port', '0'], {
      cwd: folder.path,
      env: { DATABASE_URL: url() },
    });
    const { checks } = JSON.parse(stdout) as { checks: { name: string; findings: { what: string }[] }[] };
    const found = checks.flatMap(({ name, findings }) => findings.map(({ what }) => ({ name, what })));
    expect({ exitCode, found: found.filter(({ name }) => name.startsWith('database')) }).toEqual({
      exitCode: 1,
      found: [{ name: 'database-answers', what: refused }],
    });
    expect(stdout).not.toContain(secret);
  });

  test('but not an address of which one name is dead', async () => {
    const url = `postgresql://boss:b0ss@nowhere.invalid,127.0.0.1:${standby.port},127.0.0.1:${plain.port}/postgres`;
    await findRoutes(url);
    const { stdout } = await finished(['doctor', '--json', '--port', '0'], {
      cwd: folder.path,
      env: { DATABASE_URL: url },
    });
    const { checks } = JSON.parse(stdout) as { checks: { name: string; state: string }[] };
    const states = Object.fromEntries(checks.map(({ name, state }) => [name, state]));
    expect(states).toMatchObject({ 'database-answers': 'ok', 'database-writes': 'ok' });
  });

  test('another program on the port', async () => {
    const server = createServer((socket) => socket.end('220 mail\r\n'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    expect(await refusal(at('guest', secret, 'postgres', port))).toMatch(/cannot be used: /);
  });

  test('sslmode=prefer and allow work without TLS where the server has none', async () => {
    for (const mode of ['prefer', 'allow']) {
      const { database } = await ping(at('boss', 'b0ss', `postgres?sslmode=${mode}`));
      expect(database).toContain('sslmode=disable');
    }
  });
});

describe.skipIf(!hasOpenssl)('a server with TLS (skipped where there is no openssl)', () => {
  let secured: TcpPostgres;
  beforeAll(async () => {
    secured = await tcpPostgres(['hostssl all boss 127.0.0.1/32 scram-sha-256'], {}, { tls: true });
  }, 60_000);
  afterAll(() => secured?.stop());
  const by = (query: string, host = 'localhost') =>
    at('boss', 'b0ss', `postgres${query}`, secured.port, host);

  test('is used with the standard meaning of sslmode, without a warning', async () => {
    const warnings: Error[] = [];
    const warned = (warning: Error): void => void warnings.push(warning);
    process.on('warning', warned);
    onTestFinished(() => void process.off('warning', warned));
    for (const query of [
      '?sslmode=require',
      '?sslmode=prefer',
      '?sslmode=allow',
      `?sslmode=verify-ca&sslrootcert=${secured.certificate}`,
      `?sslmode=verify-full&sslrootcert=${secured.certificate}`,
    ]) {
      expect((await ping(by(query))).pooler).toBeUndefined();
    }
    expect(
      (await ping(by(`?sslmode=verify-ca&sslrootcert=${secured.certificate}`, '127.0.0.1'))).pooler,
    ).toBeUndefined();
    expect(warnings).toEqual([]);
  });

  test.each([
    ['', /rejects this role from this host.*sslmode=require/],
    ['?sslmode=disable', /rejects this role from this host.*sslmode=require/],
    ['?sslmode=verify-full', /self-signed.*sslrootcert/],
  ])('names the missing part with %s', async (query, expected) => {
    expect(await refusal(by(query))).toMatch(expected);
  });

  test('names the other host of a certificate', async () => {
    const url = by(`?sslmode=verify-full&sslrootcert=${secured.certificate}`, '127.0.0.1');
    expect(await refusal(url)).toMatch(/does not match this host name/);
  });
});
