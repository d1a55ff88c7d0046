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

/** A connection pooler between this process and PostgreSQL. */
export interface Pooler {
  /**
   * `session`: a connection to the pooler is one session of PostgreSQL for as long as it lasts. `transaction`: each transaction may run in
   * another session, so no setting, prepared statement, lock or `listen` outlives it.
   */
  readonly mode: 'session' | 'transaction';
  /** The protocol's named statements work, because the pooler prepares them in each session that it uses. */
  readonly namedStatements: boolean;
}

/** A database, and the pooler in front of it, if any. */
export interface Route {
  readonly database: Database;
  readonly pooler?: Pooler | undefined;
}
