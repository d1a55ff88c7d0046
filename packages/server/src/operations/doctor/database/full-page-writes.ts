import { settingOf, type DatabaseCheck } from '../database-input.ts';

export const fullPageWrites: DatabaseCheck = {
  name: 'full-page-writes',
  condition: 'PostgreSQL can repair partially written pages (`full_page_writes`)',
  severity: 'error',
  why: 'A crash during a write leaves damaged pages, which recovery cannot repair.',
  fix: '`alter system set full_page_writes = on; select pg_reload_conf();` It is unnecessary only on file systems with atomic page writes, such as ZFS.',
  find: async (input) =>
    (await settingOf(input, 'full_page_writes')) === 'off' ? [{ what: '`full_page_writes` is off.' }] : [],
};
