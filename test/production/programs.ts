/** PostgreSQL and Caddy on this machine, as packaged by Debian. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const debian = '/usr/lib/postgresql';

/** The folder with the server and the client programs of the newest version. */
export const postgresPrograms = (existsSync(debian) ? readdirSync(debian) : [])
  .toSorted((a, b) => Number(b) - Number(a))
  .map((version) => join(debian, version, 'bin'))
  .find((folder) =>
    ['initdb', 'postgres', 'psql', 'pg_dump'].every((program) => existsSync(join(folder, program))),
  );

const has = (program: string, ...args: string[]): boolean => {
  try {
    execFileSync(program, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};

const missing = [
  ...(postgresPrograms === undefined ? ['postgresql'] : []),
  ...(has('caddy', 'version') ? [] : ['caddy']),
  ...(has('openssl', 'version') ? [] : ['openssl']),
  ...(has('curl', '--version') ? [] : ['curl']),
];
export const hasPrograms = missing.length === 0;

/** A suffix for test titles that names the missing programs. */
export const unlessMissing = hasPrograms ? '' : ` (skipped: install ${missing.join(', ')})`;
