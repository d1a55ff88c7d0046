import type {
  DrizzleTransaction,
  KnexTransaction,
  KyselyTransaction,
  PgClient,
  PostgresTransaction,
  PrismaTransaction,
  TypeOrmManager,
  TypeOrmRunner,
} from './transaction.ts';
import { TransactionError } from './transaction-error.ts';

/** Sends a statement with parameters `$1`, `$2`, … in a library's transaction. */
export interface Open {
  query(text: string, values: readonly string[]): PromiseLike<readonly unknown[]>;
  /** Whether the library itself rejects statements without an open transaction. If not, the database is queried. */
  readonly isSure: boolean;
}

type Shape = Readonly<Record<string, unknown>>;

/** Recognizes the transaction object of a library by its members. Throws a TransactionError for anything that is not an open transaction. */
export function openTransaction(tx: unknown): Open {
  if ((typeof tx !== 'object' && typeof tx !== 'function') || tx === null) throw unknownObject();
  const shape = tx as Shape;
  const has = (name: string): boolean => typeof shape[name] === 'function';
  if (has('$queryRawUnsafe')) return prisma(shape);
  if (has('executeQuery')) return kysely(shape);
  if (has('raw') && has('queryBuilder')) return knex(shape);
  if (typeof shape['isTransactionActive'] === 'boolean' && has('query')) return typeOrmRunner(shape);
  if (has('query') && has('getRepository')) return typeOrmManager(shape);
  if (has('execute') && has('select')) return drizzle(shape);
  if (has('unsafe')) return postgres(shape);
  if (has('query')) return pg(shape);
  throw unknownObject();
}

const unknownObject = (): TransactionError =>
  new TransactionError(
    'not_a_transaction',
    'The first argument is not a transaction of pg, postgres, Drizzle, Prisma, Kysely, Knex or TypeORM. ' +
      'With another library, call `select millrace.trigger($1, $2, $3)` in the transaction.',
  );

const notOpened = (actual: string, expected: string): TransactionError =>
  new TransactionError(
    'not_a_transaction',
    `The first argument is ${actual}, not a transaction: pass ${expected}.`,
  );

export const noTransaction = (): TransactionError =>
  new TransactionError(
    'no_transaction',
    'No transaction is open on this connection: it has ended, or `begin` was not called. Nothing was triggered.',
  );

function pg(shape: Shape): Open {
  if ('totalCount' in shape && 'idleCount' in shape) {
    throw notOpened('a pool of pg', 'the client that `pool.connect()` returns, after `begin`');
  }
  const client = shape as unknown as PgClient;
  return {
    query: async (text, values) => (await client.query(text, [...values])).rows,
    // The status is idle while a `begin` is still in flight.
    isSure: client.getTransactionStatus?.() === 'T',
  };
}

function postgres(shape: Shape): Open {
  if (typeof shape['savepoint'] !== 'function') {
    throw notOpened('a connection of postgres', 'the argument of the `sql.begin` callback');
  }
  const sql = shape as unknown as PostgresTransaction;
  return { query: (text, values) => sql.unsafe(text, [...values]), isSure: false };
}

function drizzle(shape: Shape): Open {
  if (typeof shape['rollback'] !== 'function') {
    throw notOpened('a database of Drizzle', 'the argument of the `db.transaction` callback');
  }
  const tx = shape as unknown as DrizzleTransaction;
  return {
    async query(text, values) {
      // Equivalent to the output of Drizzle's own `sql` tag, without a dependency on it.
      const built = { toQuery: () => ({ sql: text, params: [...values] }) };
      return rowsOf(await tx.execute({ getSQL: () => built }));
    },
    isSure: false,
  };
}

function prisma(shape: Shape): Open {
  if (typeof shape['$connect'] === 'function') {
    throw notOpened('a client of Prisma', 'the argument of the `prisma.$transaction` callback');
  }
  const tx = shape as unknown as PrismaTransaction;
  return { query: (text, values) => tx.$queryRawUnsafe<unknown[]>(text, ...values), isSure: true };
}

function kysely(shape: Shape): Open {
  if (shape['isTransaction'] !== true) {
    throw notOpened('a database of Kysely', 'the argument of the `db.transaction().execute` callback');
  }
  const tx = shape as unknown as KyselyTransaction;
  return {
    async query(text, values) {
      // Equivalent to the result of `CompiledQuery.raw`.
      const query = { kind: 'RawNode', sqlFragments: [text], parameters: [] };
      const id = { queryId: 'millrace' };
      return (await tx.executeQuery({ sql: text, parameters: values, query, queryId: id })).rows;
    },
    isSure: true,
  };
}

function knex(shape: Shape): Open {
  if (shape['isTransaction'] !== true) {
    throw notOpened('a connection of Knex', 'the argument of the `knex.transaction` callback');
  }
  const tx = shape as unknown as KnexTransaction;
  if (tx.isCompleted()) throw noTransaction();
  return {
    async query(text, values) {
      // Knex uses question marks as placeholders, in order; the statements here use each parameter once.
      return rowsOf(await tx.raw(text.replaceAll(/\$\d+/g, '?'), [...values]));
    },
    isSure: true,
  };
}

function typeOrmRunner(shape: Shape): Open {
  const runner = shape as unknown as TypeOrmRunner;
  if (!runner.isTransactionActive) throw noTransaction();
  return { query: async (text, values) => rowsOf(await runner.query(text, [...values])), isSure: true };
}

function typeOrmManager(shape: Shape): Open {
  const { queryRunner } = shape as unknown as TypeOrmManager;
  if (queryRunner) return typeOrmRunner(queryRunner as unknown as Shape);
  throw notOpened('a manager of TypeORM', 'the argument of the `dataSource.transaction` callback');
}

const rowsOf = (result: unknown): readonly unknown[] =>
  Array.isArray(result) ? (result as unknown[]) : (result as { rows: unknown[] }).rows;
