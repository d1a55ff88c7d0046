import type { Check, Database } from '@millrace/server';

/** Input for checks of the database connection. */
export interface ConnectionInput {
  /** Opens the database of the data folder if there is one. Returns the same result for each call. */
  readonly open: () => Promise<{
    readonly database: Database;
    readonly directDatabase?: Database | undefined;
  }>;
  readonly data: string | undefined;
}

export type ConnectionCheck = Check<ConnectionInput>;
