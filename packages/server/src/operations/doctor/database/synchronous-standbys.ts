import { settingOf, type DatabaseCheck } from '../database-input.ts';
import { Skipped } from '../check.ts';

/** Patroni writes the setting itself, and would lose acknowledged commits in a failover if it were cleared. */
const inPatroni =
  'Patroni sets `synchronous_standby_names`; do not change it. `patronictl list` shows the member that is missing: start it. With `synchronous_mode`, Patroni stops waiting for it within the `ttl`; with `synchronous_mode_strict`, commits wait until a standby is back.';

export const synchronousStandbys: DatabaseCheck = {
  name: 'synchronous-standbys',
  condition: 'the standbys that commits wait for are connected',
  severity: 'error',
  why: 'Every commit waits for them: no run can be triggered, claimed or completed.',
  fix: "Start the standby. If it is gone permanently, and commits may be lost if the primary fails, `alter system set synchronous_standby_names = ''; select pg_reload_conf();` In a Patroni cluster, never change this setting.",
  async find(input) {
    const names = await settingOf(input, 'synchronous_standby_names');
    if (names === '') return [];
    // Patroni passes these settings on PostgreSQL's command line, and is found by them while it is not connected.
    const [row] = await input.sql<{ may: boolean; connected: boolean; hasPatroni: boolean }[]>`
      select pg_has_role('pg_read_all_stats', 'usage') as may,
             exists (select from pg_stat_replication where sync_state in ('sync', 'quorum')) as connected,
             exists (select from pg_stat_activity where application_name like 'Patroni%')
               or 3 = (select count(*) from pg_settings
                        where source = 'command line' and name in ('cluster_name', 'wal_log_hints', 'track_commit_timestamp'))
               as "hasPatroni"`;
    if (!row?.may) throw new Skipped('the role may not read it: `grant pg_read_all_stats to <role>`');
    if (row.connected) return [];
    const what = `\`synchronous_standby_names\` is ${names}, and none of these standbys is connected.`;
    return [{ what, ...(row.hasPatroni && { fix: inPatroni }) }];
  },
};
