import type { Check, Database } from '@millrace/server';

/** What checks of the way to the database are given. */
export interface ConnectionFacts {
  /** Opens the database of the data folder if there is one. The same for each call. */
  readonly open: () => Promise<{
    readonly database: Database;
    readonly directDatabase?: Database | undefined;
  }>;
  readonly data: string | undefined;
}

export type ConnectionCheck = Check<ConnectionFacts>;
