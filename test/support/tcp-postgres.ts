import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findBinaries } from '../../packages/postgres/src/cluster/binaries.ts';
import { serverUser } from '../../packages/postgres/src/cluster/server-user.ts';
import { freePort } from '../../packages/postgres/src/cluster/free-port.ts';

export interface TcpPostgres {
  readonly port: number;
  /** Its certificate, if it uses TLS: self-signed, for `localhost`. */
  readonly certificate: string;
  stop(): Promise<void>;
}

/** Whether certificates can be created on this machine. */
export const hasOpenssl = spawnSync('openssl', ['version']).status === 0;

/** A PostgreSQL over TCP with access rules. The owner is `boss`, password `b0ss`. `programs` is a folder of other binaries. */
export async function tcpPostgres(
  rules: readonly string[],
  settings: Readonly<Record<string, string | number>> = {},
  {
    tls = false,
    standby = false,
    programs,
  }: {
    readonly tls?: boolean;
    /** A standby without a primary, which can be promoted. */
    readonly standby?: boolean;
    readonly programs?: string;
  } = {},
): Promise<TcpPostgres> {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-tcp-'));
  const data = join(folder, 'data');
  const user = serverUser(data);
  const as = user ? { uid: user.uid, gid: user.gid } : {};
  const own = (path: string): void => {
    if (user) chownSync(path, user.uid, user.gid);
  };
  own(folder);
  const binaries = programs ?? (await findBinaries(data, user)).folder;
  const password = join(folder, 'password');
  writeFileSync(password, 'b0ss');
  own(password);
  const options = { ...as, cwd: '/', stdio: 'ignore' } as const;
  execFileSync(
    join(binaries, 'initdb'),
    [
      '-D',
      data,
      '-U',
      'boss',
      '-A',
      'scram-sha-256',
      `--pwfile=${password}`,
      '-E',
      'UTF8',
      '--locale=C',
      '--no-sync',
    ],
    options,
  );
  writeFileSync(join(data, 'pg_hba.conf'), `${rules.join('\n')}\n`);
  if (standby) writeFileSync(join(data, 'standby.signal'), '');
  const certificate = join(folder, 'server.crt');
  const key = join(folder, 'server.key');
  if (tls) {
    execFileSync(
      'openssl',
      // prettier-ignore
      ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=localhost',
        '-addext', 'subjectAltName=DNS:localhost', '-keyout', key, '-out', certificate],
      { stdio: 'ignore' },
    );
    chmodSync(key, 0o600);
    own(key);
    own(certificate);
  }
  const port = await freePort();
  const all = {
    port,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    fsync: 'off',
    ...(tls && { ssl: 'on', ssl_cert_file: certificate, ssl_key_file: key }),
    ...settings,
  };
  const args = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const child = spawn(join(binaries, 'postgres'), ['-D', data, ...args], {
    ...as,
    cwd: '/',
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(child, 'exit');
  let log = '';
  await new Promise<void>((resolve, reject) => {
    child.stderr.on('data', (text: Buffer) => {
      log += text.toString();
      if (log.includes('ready to accept')) resolve();
    });
    child.on('exit', () => reject(new Error(log)));
  });
  return {
    port,
    certificate,
    async stop() {
      child.kill('SIGQUIT');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
