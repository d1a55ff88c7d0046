import { execFileSync, spawn } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import type { Database } from '../../packages/server/src/db/connect.ts';
import { freePort } from '../../packages/postgres/src/cluster/free-port.ts';
import { acceptSockets, joinSockets } from './sockets.ts';

/** The PgBouncer program: from PGBOUNCER, from PATH, or in Debian's location. Undefined if not installed. */
export const pgbouncer = [process.env['PGBOUNCER'], 'pgbouncer', '/usr/sbin/pgbouncer'].find(
  (program) => program !== undefined && runs(program),
);

/** A suffix for test titles that names the missing program. */
export const unlessMissing =
  pgbouncer === undefined ? ' (skipped: install pgbouncer, or name it in PGBOUNCER)' : '';

export interface Pooled {
  /** The database through PgBouncer. */
  readonly url: string;
  /** The same database without it. */
  readonly directUrl: string;
  /** The log of PgBouncer. */
  readonly log: () => string;
}

/** A PgBouncer in front of a database, until the test ends. */
export async function startPgbouncer(
  database: Database,
  mode: 'session' | 'transaction' | 'statement',
  settings: Readonly<Record<string, string | number>> = {},
): Promise<Pooled> {
  const { host, port, name, user, password } = await overTcp(database);
  const folder = await mkdtemp(join(tmpdir(), 'millrace-pgbouncer-'));
  await chmod(folder, 0o755);
  const own = await freePort();
  const all = {
    listen_addr: '127.0.0.1',
    listen_port: own,
    unix_socket_dir: '',
    auth_type: 'any',
    pool_mode: mode,
    ...settings,
  };
  const file = join(folder, 'pgbouncer.ini');
  const target = [
    `host=${host} port=${port} dbname=${name} user=${user}`,
    password && `password=${password}`,
  ];
  const lines = Object.entries(all).map(([key, value]) => `${key} = ${value}`);
  await writeFile(
    file,
    `[databases]\n${name} = ${target.filter(Boolean).join(' ')}\n[pgbouncer]\n${lines.join('\n')}\n`,
  );
  // PgBouncer does not run as root.
  const nobody = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};
  const child = spawn(pgbouncer ?? 'pgbouncer', [file], { ...nobody, stdio: ['ignore', 'pipe', 'pipe'] });
  let log = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text: Buffer) => (log += text.toString()));
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await rm(folder, { recursive: true, force: true });
  });
  while (!log.includes('process up')) {
    if (child.exitCode !== null) throw new Error(`PgBouncer did not start: ${log}`);
    await pause(20);
  }
  return {
    url: `postgresql://${user}@127.0.0.1:${own}/${name}`,
    directUrl: `postgresql://${user}${password ? `:${encodeURIComponent(password)}` : ''}@${host}:${port}/${name}`,
    log: () => log,
  };
}

/** The URL of a database for DATABASE_URL, until `onEnd`: the end of the test by default. */
export async function addressOverTcp(
  database: Database,
  onEnd: (end: () => void) => void = onTestFinished,
): Promise<string> {
  const { host, port, name, user, password } = await overTcp(database, onEnd);
  return `postgresql://${user}${password ? `:${encodeURIComponent(password)}` : ''}@${host}:${port}/${name}`;
}

/** The embedded PostgreSQL of the tests has a socket that only its user can access; PgBouncer and others use this proxy. */
async function overTcp(database: Database, onEnd: (end: () => void) => void = onTestFinished) {
  if (typeof database === 'string') {
    const url = new URL(database);
    return {
      host: url.hostname,
      port: Number(url.port || 5432),
      name: url.pathname.slice(1),
      user: decodeURIComponent(url.username),
      password: decodeURIComponent(url.password),
    };
  }
  const socket = join(database.host, `.s.PGSQL.${database.port ?? 5432}`);
  const { port, close } = await acceptSockets((client, track) => joinSockets(client, track(connect(socket))));
  onEnd(() => void close());
  const { database: name, username: user, password = '' } = database;
  return { host: '127.0.0.1', port, name, user, password };
}

function runs(program: string): boolean {
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
