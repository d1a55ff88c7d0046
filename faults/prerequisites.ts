/** The programs and permissions that the suite needs. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Programs in a package whose name differs from theirs. Debian has some of them in folders that are not on everyone's PATH. */
const packageOf: Readonly<Record<string, string>> = {
  patroni: 'patroni',
  patronictl: 'patroni',
  etcd: 'etcd-server',
  haproxy: 'haproxy',
  pgbouncer: 'pgbouncer',
  ip: 'iproute2',
  nft: 'nftables',
  nsenter: 'util-linux',
  setpriv: 'util-linux',
  unshare: 'util-linux',
};
export const systemPath = `${process.env['PATH']}:/usr/sbin:/sbin:/usr/bin:/bin`;
/** Sets the clock of a process; its folder depends on the architecture. Undefined without Debian's faketime. */
export const fakeTimeLibrary = ['x86_64', 'aarch64']
  .map((architecture) => `/usr/lib/${architecture}-linux-gnu/faketime/libfaketimeMT.so.1`)
  .find((file) => existsSync(file));

const debian = '/usr/lib/postgresql';
/** The programs of the newest PostgreSQL of Debian. */
export const postgresPrograms = (existsSync(debian) ? readdirSync(debian) : [])
  .toSorted((a, b) => Number(b) - Number(a))
  .map((version) => join(debian, version, 'bin'))
  .find((folder) => existsSync(join(folder, 'initdb')));

const succeeds = (command: string, ...args: string[]): boolean =>
  spawnSync(command, args, { stdio: 'ignore', env: { ...process.env, PATH: systemPath } }).status === 0;

/** The reasons why the suite cannot run here, as sentences. */
export function unmetPrerequisites(): string[] {
  if (process.platform !== 'linux') return ['The suite needs Linux.'];
  const missing = Object.entries(packageOf)
    .filter(([program]) => !succeeds('sh', '-c', `command -v ${program}`))
    .map(([, name]) => name);
  if (postgresPrograms === undefined) missing.unshift('postgresql');
  const reasons: string[] = [];
  if (missing.length > 0)
    reasons.push(`Missing packages: ${[...new Set(missing)].join(', ')}. Install them with apt-get install.`);
  if (process.getuid?.() !== 0) reasons.push('The suite needs root, for network namespaces and mounts.');
  else if (
    !missing.includes('util-linux') &&
    !succeeds('unshare', '--net', '--mount', '--pid', '--fork', 'true')
  )
    reasons.push('This machine does not permit network namespaces (unshare failed).');
  return reasons;
}
