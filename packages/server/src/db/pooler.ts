/** A connection pooler between this process and PostgreSQL. */
export interface Pooler {
  /**
   * `session`: a connection to the pooler is one to PostgreSQL for as long as it lasts. `transaction`: each transaction may meet another
   * session of PostgreSQL, so that nothing outlives it: no setting, no prepared statement, no lock, no listening.
   */
  readonly mode: 'session' | 'transaction';
  /** Named statements of the protocol work, because the pooler prepares them wherever it sends them. */
  readonly namedStatements: boolean;
}

/** A database, and what stands before it. */
export interface Route<D> {
  readonly database: D;
  readonly pooler?: Pooler | undefined;
}
