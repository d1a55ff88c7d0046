import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { Skipped } from '@millrace/server';
import type { ConnectionCheck } from './input.ts';

export const dataFolder: ConnectionCheck = {
  name: 'data-folder',
  condition: 'the data folder contains a database that starts',
  severity: 'error',
  why: 'Millrace cannot start with this folder, or starts with an empty database.',
  fix: 'Pass the folder of `millrace start` with `--data`. For `millrace dev` it is `.millrace/data`.',
  async find({ data, open }) {
    if (data === undefined) throw new Skipped('no data folder');
    const isThere = await access(join(data, 'postgres', 'PG_VERSION')).then(
      () => true,
      () => false,
    );
    if (!isThere) return [{ what: `No database in ${data}.` }];
    try {
      await open();
      return [];
    } catch (error) {
      if (!(error instanceof Error) || error.name !== 'EmbeddedPostgresError') throw error;
      return [{ what: error.message }];
    }
  },
};
