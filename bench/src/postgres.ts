/** The one PostgreSQL of all systems: the embedded one as Millrace starts it, fsync and synchronous_commit on. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { startPostgres } from '../../packages/postgres/src/cluster/index.ts';
import { dataFolder } from './folders.ts';

export interface Databases {
  readonly settings: string;
  readonly pid: number;
  /** Drops and creates a database of that name; its address. */
  fresh(name: string): Promise<string>;
  stop(): Promise<void>;
}

export async function startDatabases(): Promise<Databases> {
  const dataDir = join(dataFolder, 'postgres');
  const running = await startPostgres({ dataDir, settings: { max_connections: '200' } });
  const admin = new pg.Pool({ connectionString: addressOf(running, 'postgres'), max: 1 });
  const names = ['server_version', 'fsync', 'synchronous_commit', 'shared_buffers', 'max_wal_size'];
  const values = await Promise.all(
    names.map(
      async (name) => `${name} ${Object.values((await admin.query(`show ${name}`)).rows[0] ?? {})[0]}`,
    ),
  );
  return {
    settings: values.join(', '),
    pid: Number(readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0]),
    async fresh(name) {
      await admin.query(`drop database if exists ${name} with (force)`);
      await admin.query(`create database ${name}`);
      await admin.query('checkpoint');
      return addressOf(running, name);
    },
    async stop() {
      await admin.end();
      await running.stop();
    },
  };
}

function addressOf({ url }: Awaited<ReturnType<typeof startPostgres>>, database: string): string {
  const address = new URL(url);
  address.pathname = `/${database}`;
  return address.href;
}

/** A few connections to look into a system's tables with. */
export class Tables {
  readonly #pool: pg.Pool;

  constructor(address: string) {
    this.#pool = new pg.Pool({ connectionString: address, max: 1 });
    // Its database is dropped under it at the next round.
    this.#pool.on('error', () => undefined);
  }

  async count(query: string): Promise<number> {
    return Number(Object.values((await this.#pool.query(query)).rows[0] ?? {})[0]);
  }

  /** Copies the only row of a table until there are `n`; `changed` gives columns as SQL of `t` (the row) and `g` (1, 2 …). */
  async clone(table: string, n: number, changed: Readonly<Record<string, string>>): Promise<void> {
    const { rows } = await this.#pool.query<{ name: string }>(
      `select attname as name from pg_attribute
        where attrelid = '${table}'::regclass and attnum > 0 and not attisdropped and attidentity = '' and attgenerated = ''`,
    );
    const columns = rows.map(({ name }) => `"${name}"`);
    const values = rows.map(({ name }) => changed[name] ?? `t."${name}"`);
    const atOnce = 100_000;
    for (let from = 1; from < n; from += atOnce) {
      await this.#pool.query(
        `insert into ${table} (${columns.join(', ')}) select ${values.join(', ')}
           from (select * from ${table} limit 1) t, generate_series(${from}, ${Math.min(n, from + atOnce) - 1}) g`,
      );
    }
  }

  async rows(query: string): Promise<Record<string, unknown>[]> {
    return (await this.#pool.query<Record<string, unknown>>(query)).rows;
  }

  async vacuum(): Promise<void> {
    await this.#pool.query('vacuum analyze');
    await this.#pool.query('checkpoint');
  }

  close(): Promise<void> {
    return this.#pool.end();
  }
}
