/** The reason why a run cannot be triggered in a transaction. */
export type TransactionErrorCode =
  | 'not_a_transaction'
  | 'no_transaction'
  | 'failed_transaction'
  | 'read_only'
  | 'not_installed'
  | 'not_allowed'
  | 'too_large';

/** A run could not be triggered in a transaction. The message explains the fix; `cause` is the database error, if there is one. */
export class TransactionError extends Error {
  override name = 'TransactionError';
  readonly code: TransactionErrorCode;

  constructor(code: TransactionErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

const install = 'run `millrace outbox install --database-url <url>` for it';

/** The meaning of the function's SQLSTATEs. */
const known: Readonly<Record<string, readonly [TransactionErrorCode, string]>> = {
  '25P02': [
    'failed_transaction',
    'An earlier statement of this transaction failed: roll it back and try again.',
  ],
  '25006': ['read_only', 'The transaction is read-only: trigger in a writable one, on the primary server.'],
  '3F000': [
    'not_installed',
    `This database has no outbox of Millrace (there is no schema millrace): ${install}.`,
  ],
  '42883': ['not_installed', `This database has no function millrace.trigger: ${install}.`],
  '42501': [
    'not_allowed',
    'The role of this connection lacks permission to trigger: as the owner of the outbox, run `grant usage on schema millrace to <role>` ' +
      'and `grant execute on function millrace.trigger(text, jsonb, jsonb) to <role>`.',
  ],
};

/** Translates an error of the outbox into a TransactionError; other errors stay unchanged. */
export function transactionErrorOf(error: unknown): unknown {
  const [code, message] = known[sqlStateOf(error) ?? ''] ?? [];
  return code === undefined ? error : new TransactionError(code, message ?? '', { cause: error });
}

/** Libraries wrap the driver's error in different ways. */
function sqlStateOf(error: unknown, depth = 0): string | undefined {
  if (typeof error !== 'object' || error === null || depth > 4) return undefined;
  const { code, originalCode, driverError, cause, meta, driverAdapterError } = error as Record<
    string,
    unknown
  >;
  for (const value of [originalCode, code])
    if (typeof value === 'string' && /^[0-9A-Z]{5}$/.test(value) && value in known) return value;
  for (const inner of [driverError, cause, meta, driverAdapterError]) {
    const found = sqlStateOf(inner, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}
