import { settingOf, type DatabaseCheck } from '../database-input.ts';

export const synchronousCommit: DatabaseCheck = {
  name: 'synchronous-commit',
  looksAt: 'a commit is on disk when it is answered (`synchronous_commit`)',
  severity: 'error',
  why: 'Runs that were accepted, and results that were recorded, are lost when PostgreSQL crashes shortly after.',
  fix: '`alter system set synchronous_commit = on; select pg_reload_conf();` and `alter role <role> reset synchronous_commit;` if the role has a value of its own.',
  find: async (input) =>
    (await settingOf(input, 'synchronous_commit')) === 'off'
      ? [{ what: '`synchronous_commit` is off for sessions of this role.' }]
      : [],
};
