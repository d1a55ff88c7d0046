/** The observations during the load: started attempts, memory, and the tables. */
import pg from 'pg';
import { cpuOf, idleOfMachine, proportionalOf, residentOf, sum, tree } from '../processes.ts';

/** The tables that contain no rows of an ended run. */
const hot = [
  'queued',
  'leases',
  'lanes',
  'delayed',
  'suspended',
  'pending_version',
  'error_arrivals',
] as const;
const growing = ['runs', 'run_facets', 'error_tallies'] as const;

export type Parts = Readonly<Record<'server' | 'runner' | 'database', number>>;

/** Processor time so far, in milliseconds. */
export interface Spent extends Parts {
  /** Processor time of this process and its children plus idle time: the time of other processes is excluded. */
  readonly available: number;
}

export interface Moment {
  /** MiB. */
  readonly memory: Parts;
  /** MiB of each table with its indexes. */
  readonly hot: Readonly<Record<string, number>>;
  readonly growing: Readonly<Record<string, number>>;
  /** Rows that are dead in the hot tables, as PostgreSQL counts them. */
  readonly dead: number;
  readonly autovacuums: number;
  readonly checkpoints: number;
}

export class Watch {
  readonly #pool: pg.Pool;
  readonly #pids: Parts;

  constructor(database: string, pids: Parts) {
    this.#pool = new pg.Pool({ connectionString: database, max: 2 });
    this.#pool.on('error', () => undefined);
    this.#pids = pids;
  }

  /** Attempts begun so far. Each takes one number of a sequence, which costs nothing to read. */
  begun(): Promise<number> {
    return this.#number('select last_value from lease_fences');
  }

  waiting(): Promise<number> {
    return this.#number('select count(*) from queued');
  }

  /** Runs that have not ended. */
  pending(): Promise<number> {
    return this.#number(`select (select count(*) from queued) + (select count(*) from leases)
      + (select count(*) from delayed) + (select count(*) from suspended) + (select count(*) from pending_version)`);
  }

  spent(): Spent {
    const { server, runner, database } = this.#pids;
    return {
      server: cpuOf(server),
      runner: cpuOf(runner),
      database: cpuOf(database),
      available: cpuOf(process.pid) + idleOfMachine(),
    };
  }

  async moment(): Promise<Moment> {
    const { rows } = await this.#pool.query<{ name: string; mib: number; dead: string; vacuums: string }>(
      `select relname as name, pg_total_relation_size(relid) / 1048576.0::float8 as mib, n_dead_tup as dead,
              autovacuum_count as vacuums
         from pg_stat_user_tables where relname = any($1)`,
      [[...hot, ...growing]],
    );
    const sizes = (names: readonly string[]) =>
      Object.fromEntries(names.map((name) => [name, rows.find((row) => row.name === name)?.mib ?? 0]));
    const hotRows = rows.filter(({ name }) => hot.some((table) => table === name));
    const { server, runner, database } = this.#pids;
    return {
      memory: {
        server: sum(tree(server), residentOf),
        runner: sum(tree(runner), residentOf),
        // Its processes share most of their pages.
        database: sum(tree(database), proportionalOf),
      },
      hot: sizes(hot),
      growing: sizes(growing),
      dead: hotRows.reduce((total, { dead }) => total + Number(dead), 0),
      autovacuums: hotRows.reduce((total, { vacuums }) => total + Number(vacuums), 0),
      checkpoints: await this.#checkpoints(),
    };
  }

  close(): Promise<void> {
    return this.#pool.end();
  }

  #checkpoints(): Promise<number> {
    return this.#number('select num_timed + num_requested from pg_stat_checkpointer');
  }

  async #number(query: string): Promise<number> {
    const { rows } = await this.#pool.query<Record<string, unknown>>(query);
    return Number(Object.values(rows[0] ?? {})[0]);
  }
}
