import { readableSize } from '@millrace/contract/plain';
import { needTables, type DatabaseCheck } from '../database-input.ts';

/** A table with at least this unused share is a finding. */
const minShare = 0.6;

export const bloat: DatabaseCheck = {
  name: 'bloat',
  condition: 'no table file consists mostly of unused space and has more than 1 GiB of it',
  severity: 'warning',
  why: 'Disk space is wasted, and backups and scans take longer. PostgreSQL reuses the space only for rows of the same table.',
  fix: '`vacuum (full, analyze) <table>;` while nothing runs, because it locks the table. `pg_repack` does not lock it.',
  async find(input) {
    needTables(input);
    const { sql, limits } = input;
    // The space that the rows need according to column statistics, plus 28 bytes for the header and pointer of each.
    const rows = await sql<{ name: string; bytes: number; unused: number }[]>`
      with size as (
        select c.relname as name, c.relpages * current_setting('block_size')::float8 as bytes,
               c.reltuples * (28 + coalesce((select sum((1 - s.null_frac) * s.avg_width) from pg_stats s
                                              where s.schemaname = current_schema() and s.tablename = c.relname), 0))
                 * 100 / coalesce((select o.option_value::float8 from pg_options_to_table(c.reloptions) o
                                    where o.option_name = 'fillfactor'), 100) as needed
          from pg_class c
         where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and c.reltuples >= 0
           and c.relpages * current_setting('block_size')::float8 > ${limits.bloatBytes}::float8
      )
      select name, bytes, bytes - needed as unused from size
       where bytes - needed > ${limits.bloatBytes}::float8 and bytes - needed > bytes * ${minShare}::float8
       order by 3 desc limit 10`;
    return rows.map(({ name, bytes, unused }) => ({
      what: `About ${readableSize(unused)} of the ${readableSize(bytes)} of table ${name} is unused.`,
      fix: `\`vacuum (full, analyze) ${name};\` while nothing runs, because it locks the table; or \`pg_repack --table=${name}\`, which does not.`,
    }));
  },
};
