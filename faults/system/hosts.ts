import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { databaseName } from './database.ts';

/** A copy of /etc/hosts that only the suite's processes see, and that it changes. */
export interface Hosts {
  /** Lets the name of the database lead to an address. */
  lead(address: string): void;
}

export function createHosts(folder: string): Hosts {
  const original = readFileSync('/etc/hosts', 'utf8');
  const file = join(folder, 'hosts');
  writeFileSync(file, original);
  execFileSync('mount', ['--bind', file, '/etc/hosts']);
  return { lead: (address) => writeFileSync(file, `${original}\n${address} ${databaseName}\n`) };
}
