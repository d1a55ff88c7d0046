import { settingOf, type DatabaseCheck } from '../database-input.ts';

export const fsync: DatabaseCheck = {
  name: 'fsync',
  condition: 'PostgreSQL waits for the disk (`fsync`)',
  severity: 'error',
  why: 'A power failure or a crash of the machine can corrupt the database beyond repair.',
  fix: '`alter system set fsync = on; select pg_reload_conf();`',
  find: async (input) => ((await settingOf(input, 'fsync')) === 'off' ? [{ what: '`fsync` is off.' }] : []),
};
