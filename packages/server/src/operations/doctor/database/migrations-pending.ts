import { Skipped } from '../check.ts';
import type { DatabaseCheck } from '../database-input.ts';

export const migrationsPending: DatabaseCheck = {
  name: 'migrations-pending',
  condition: 'the database has all migrations of this release',
  severity: 'warning',
  why: 'The servers have an older release than this command, or the database was restored from a backup that is older than the servers.',
  fix: 'Start a server of this release. It migrates the database while the other servers keep working.',
  async find({ release, applied }) {
    if (!applied) throw new Skipped('Millrace has no tables here yet: the first start creates them');
    const has = new Set(applied);
    const missing = release.schema.filter(({ name }) => !has.has(name));
    return missing.length === 0
      ? []
      : [{ what: `Not applied: ${missing.map(({ name }) => name).join(', ')}.` }];
  },
};
