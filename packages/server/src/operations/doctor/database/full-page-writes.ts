import { settingOf, type DatabaseCheck } from '../facts.ts';

export const fullPageWrites: DatabaseCheck = {
  name: 'full-page-writes',
  looksAt: 'PostgreSQL can repair partially written pages (`full_page_writes`)',
  severity: 'error',
  why: 'A crash during a write leaves damaged pages, which recovery cannot repair.',
  mend: '`alter system set full_page_writes = on; select pg_reload_conf();` It is unnecessary only on file systems with atomic page writes, such as ZFS.',
  find: async (facts) =>
    (await settingOf(facts, 'full_page_writes')) === 'off' ? [{ what: '`full_page_writes` is off.' }] : [],
};
