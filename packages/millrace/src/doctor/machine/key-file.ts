import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Skipped } from '@millrace/server';
import type { MachineCheck } from './input.ts';

export const keyFile: MachineCheck = {
  name: 'key-file',
  condition: 'only one user can read the file of the master key',
  severity: 'error',
  why: 'Anyone with the key and a copy of the database can read all secrets.',
  fix: '`chmod 600 <folder>/master.key`. If other users may have read the key, change it: `millrace keys rotate-master --data <folder>`.',
  async find({ data }) {
    if (data === undefined) throw new Skipped('no data folder');
    const file = join(data, 'master.key');
    const found = await stat(file).catch(() => undefined);
    return found && (found.mode & 0o077) !== 0
      ? [{ what: `Other users may read ${file}.`, fix: `\`chmod 600 ${file}\`` }]
      : [];
  },
};
