import type { DatabaseCheck } from '../database-input.ts';

export const autovacuum: DatabaseCheck = {
  name: 'autovacuum',
  condition: 'autovacuum is on, for all tables',
  severity: 'error',
  why: 'Each run leaves dead rows. Without autovacuum, tables grow, claims become slower, and PostgreSQL stops after two billion transactions.',
  fix: '`alter system set autovacuum = on; alter system set track_counts = on; select pg_reload_conf();`, and `alter table <table> reset (autovacuum_enabled);`',
  async find({ sql }) {
    const off = await sql<{ name: string }[]>`
      select name from pg_settings where name in ('autovacuum', 'track_counts') and reset_val = 'off' order by name`;
    const tables = await sql<{ name: string }[]>`
      select c.relname as name from pg_class c, lateral pg_options_to_table(c.reloptions) o
       where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r'
         and o.option_name = 'autovacuum_enabled' and o.option_value in ('false', 'off', 'no', '0') order by 1 limit 20`;
    return [
      ...off.map(({ name }) => ({ what: `\`${name}\` is off.` })),
      ...tables.map(({ name }) => ({ what: `Autovacuum is off for the table ${name}.` })),
    ];
  },
};
