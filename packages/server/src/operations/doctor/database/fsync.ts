import { settingOf, type DatabaseCheck } from '../facts.ts';

export const fsync: DatabaseCheck = {
  name: 'fsync',
  looksAt: 'PostgreSQL waits for the disk (`fsync`)',
  severity: 'error',
  why: 'A power failure or a crash of the machine can corrupt the database beyond repair.',
  mend: '`alter system set fsync = on; select pg_reload_conf();`',
  find: async (facts) => ((await settingOf(facts, 'fsync')) === 'off' ? [{ what: '`fsync` is off.' }] : []),
};
