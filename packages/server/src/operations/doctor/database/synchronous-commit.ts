import { settingOf, type DatabaseCheck } from '../database-input.ts';

export const synchronousCommit: DatabaseCheck = {
  name: 'synchronous-commit',
  condition: 'commits are on disk before they are acknowledged (`synchronous_commit`)',
  severity: 'error',
  why: 'If PostgreSQL crashes, runs accepted and results recorded shortly before are lost.',
  fix: '`alter system set synchronous_commit = on; select pg_reload_conf();` and `alter role <role> reset synchronous_commit;` if the role has its own value.',
  find: async (input) =>
    (await settingOf(input, 'synchronous_commit')) === 'off'
      ? [{ what: '`synchronous_commit` is off for sessions of this role.' }]
      : [],
};
