import postgres from 'postgres';

/** A connection string, or the pieces of one (a socket folder as host). */
export type Database =
  | string
  | {
      readonly host: string;
      readonly port?: number;
      readonly database: string;
      readonly username: string;
      readonly password?: string;
    };

export type Sql = postgres.Sql<{}>;
export type Transaction = postgres.TransactionSql<{}>;
/** A pool or a transaction of it: what a verb needs to speak to PostgreSQL. */
export type Queryable = postgres.ISql<{}>;

export interface ConnectOptions {
  /** Shown in pg_stat_activity. */
  readonly name: string;
  /** Most connections. Default 8. */
  readonly max?: number;
  /** Settings of each session, such as `plan_cache_mode`. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** Opens a pool. Connections are made when first needed and made again when PostgreSQL comes back. */
export function connect(database: Database, { name, max = 8, settings }: ConnectOptions): Sql {
  const options: postgres.Options<{}> = {
    max,
    connection: { application_name: name, TimeZone: 'UTC', ...settings },
    // A database that is being restarted is tried again soon: callers wait, they do not fail.
    backoff: (attempt) => Math.min(0.05 * 2 ** attempt, 1),
    connect_timeout: 10,
    onnotice: () => {},
  };
  return typeof database === 'string' ? postgres(database, options) : postgres({ ...options, ...database });
}
