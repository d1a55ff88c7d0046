import { settingOf, type DatabaseCheck } from '../database-input.ts';

export const fullPageWrites: DatabaseCheck = {
  name: 'full-page-writes',
  looksAt: 'PostgreSQL repairs pages that were written in part (`full_page_writes`)',
  severity: 'error',
  why: 'A crash in the middle of a write leaves damaged pages, which the recovery cannot repair.',
  fix: '`alter system set full_page_writes = on; select pg_reload_conf();` Only file systems that write pages as a whole, such as ZFS, do without it.',
  find: async (input) =>
    (await settingOf(input, 'full_page_writes')) === 'off' ? [{ what: '`full_page_writes` is off.' }] : [],
};
