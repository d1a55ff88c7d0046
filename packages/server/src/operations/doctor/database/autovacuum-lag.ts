import { needTables, type DatabaseCheck } from '../database-input.ts';

/** The multiple of its threshold that a table may reach. */
const factor = 5;

export const autovacuumLag: DatabaseCheck = {
  name: 'autovacuum-lag',
  condition: 'no table has five times the number of dead rows at which autovacuum starts',
  severity: 'warning',
  why: 'Autovacuum cannot keep up. The tables grow, and statements read dead rows.',
  fix: "`vacuum <table>;` now. Then let autovacuum do more: `alter system set autovacuum_naptime = '10s'; alter system set autovacuum_max_workers = 6;`, and look for long transactions.",
  async find(input) {
    needTables(input);
    const { sql, limits } = input;
    const rows = await sql<{ name: string; dead: number }[]>`
      select s.relname as name, s.n_dead_tup::float8 as dead
        from pg_stat_user_tables s join pg_class c on c.oid = s.relid
       cross join lateral (
         select max(o.option_value) filter (where o.option_name = 'autovacuum_vacuum_threshold')::float8 as base,
                max(o.option_value) filter (where o.option_name = 'autovacuum_vacuum_scale_factor')::float8 as factor
           from pg_options_to_table(c.reloptions) o) own
       where c.relnamespace = current_schema()::regnamespace
         and s.n_dead_tup > ${limits.deadRows}::float8
             + ${factor}::int * (coalesce(own.base, current_setting('autovacuum_vacuum_threshold')::float8)
                + coalesce(own.factor, current_setting('autovacuum_vacuum_scale_factor')::float8) * greatest(0, c.reltuples))
       order by 2 desc limit 10`;
    return rows.map(({ name, dead }) => ({
      what: `The table ${name} has ${dead} dead rows.`,
      fix: `\`vacuum ${name};\` now. Then run autovacuum more often: \`alter system set autovacuum_naptime = '10s';\`, and look for long transactions.`,
    }));
  },
};
