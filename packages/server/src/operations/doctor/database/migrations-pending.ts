import { Skipped } from '../check.ts';
import type { DatabaseCheck } from '../database-input.ts';

export const migrationsPending: DatabaseCheck = {
  name: 'migrations-pending',
  looksAt: 'the database has all migrations of this release',
  severity: 'warning',
  why: 'The servers are of an older release than this command, or a restored backup is older than the servers.',
  fix: 'Start a server of this release: it migrates while the others serve.',
  async find({ release, applied }) {
    if (!applied) throw new Skipped('Millrace has no tables here yet: the first start creates them');
    const has = new Set(applied);
    const missing = release.schema.filter(({ name }) => !has.has(name));
    return missing.length === 0
      ? []
      : [{ what: `Not applied: ${missing.map(({ name }) => name).join(', ')}.` }];
  },
};
