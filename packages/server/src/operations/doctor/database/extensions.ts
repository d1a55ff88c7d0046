import type { DatabaseCheck } from '../database-input.ts';

const trigramIndexes =
  'create index error_texts_by_type on error_texts using gin (type gin_trgm_ops); ' +
  'create index error_texts_by_message on error_texts using gin (message gin_trgm_ops);';

export const extensions: DatabaseCheck = {
  name: 'extensions',
  condition: 'PostgreSQL has the extensions `plpgsql` and, for searches of error groups, `pg_trgm`',
  severity: 'warning',
  why: 'Without `plpgsql` the first start fails. Without `pg_trgm` each search of error groups reads all messages.',
  fix: "Install PostgreSQL's contrib package, then `create extension <name>;`.",
  async find({ sql, applied }) {
    const [row] = await sql<{ plpgsql: boolean; trigrams: boolean; available: boolean; indexed: boolean }[]>`
      select exists (select from pg_language where lanname = 'plpgsql') as plpgsql,
             exists (select from pg_extension where extname = 'pg_trgm') as trigrams,
             exists (select from pg_available_extensions where name = 'pg_trgm') as available,
             to_regclass('error_texts_by_message') is not null as indexed`;
    if (!row) return [];
    if (!row.plpgsql)
      return [{ what: 'The extension plpgsql is missing.', fix: '`create extension plpgsql;`' }];
    if (!row.available && !row.trigrams)
      return [{ what: 'PostgreSQL was installed without the extension pg_trgm.' }];
    // The first start creates both.
    if (!applied || row.indexed) return [];
    return [
      {
        what: 'Searches of error groups are not indexed, because pg_trgm was missing at the first start.',
        fix: `\`create extension if not exists pg_trgm; ${trigramIndexes}\``,
      },
    ];
  },
};
