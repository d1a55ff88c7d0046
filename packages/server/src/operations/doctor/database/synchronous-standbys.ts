import { settingOf, type DatabaseCheck } from '../database-input.ts';
import { Skipped } from '../check.ts';

export const synchronousStandbys: DatabaseCheck = {
  name: 'synchronous-standbys',
  looksAt: 'the standbys that commits wait for are connected',
  severity: 'error',
  why: 'Every commit waits for them: no run can be triggered, claimed or completed.',
  fix: "Start the standby, or `alter system set synchronous_standby_names = ''; select pg_reload_conf();`",
  async find(input) {
    const names = await settingOf(input, 'synchronous_standby_names');
    if (names === '') return [];
    const [row] = await input.sql<{ may: boolean; connected: boolean }[]>`
      select pg_has_role('pg_read_all_stats', 'usage') as may,
             exists (select from pg_stat_replication where sync_state in ('sync', 'quorum')) as connected`;
    if (!row?.may) throw new Skipped('the role may not read it: `grant pg_read_all_stats to <role>`');
    return row.connected
      ? []
      : [{ what: `\`synchronous_standby_names\` is ${names}, and none of these standbys is connected.` }];
  },
};
