/** The transaction objects of common libraries, each reduced to the members used here. None of the libraries is imported. */

/** A client of `pg` with a transaction that `begin` opened. */
export interface PgClient {
  query(text: string, values: unknown[]): Promise<{ rows: unknown[] }>;
  getTransactionStatus?(): string | null;
  readonly totalCount?: never;
}

/** The argument that `postgres` passes to the function of `sql.begin`. */
export interface PostgresTransaction {
  // oxlint-disable-next-line typescript/no-explicit-any -- its own parameters are of a closed list of types
  unsafe(text: string, values?: any[]): PromiseLike<readonly unknown[]>;
  savepoint: unknown;
}

/** The argument that Drizzle passes to the function of `db.transaction`. */
export interface DrizzleTransaction {
  // oxlint-disable-next-line typescript/no-explicit-any -- a class of Drizzle
  execute(query: any): PromiseLike<unknown>;
  rollback(): never;
}

/** The argument that Prisma passes to the function of `prisma.$transaction`. */
export interface PrismaTransaction {
  $queryRawUnsafe<T = unknown>(text: string, ...values: unknown[]): PromiseLike<T>;
}

/** A transaction of Kysely. */
export interface KyselyTransaction {
  readonly isTransaction: true;
  // oxlint-disable-next-line typescript/no-explicit-any -- a type of Kysely
  executeQuery(query: any): Promise<{ rows: unknown[] }>;
}

/** A transaction of Knex. */
export interface KnexTransaction {
  isCompleted(): boolean;
  // oxlint-disable-next-line typescript/no-explicit-any -- overloaded
  raw(text: string, values: any): PromiseLike<any>;
}

/** A QueryRunner of TypeORM. */
export interface TypeOrmRunner {
  readonly isTransactionActive: boolean;
  query(text: string, values?: unknown[]): Promise<unknown>;
}

/** The EntityManager that TypeORM passes to the function of `dataSource.transaction`. */
export interface TypeOrmManager {
  readonly queryRunner?: TypeOrmRunner | undefined;
  query(text: string, values?: unknown[]): Promise<unknown>;
}

/** An open transaction of `pg`, `postgres`, Drizzle, Prisma, Kysely, Knex or TypeORM. */
export type Transaction =
  | PgClient
  | PostgresTransaction
  | DrizzleTransaction
  | PrismaTransaction
  | KyselyTransaction
  | KnexTransaction
  | TypeOrmRunner
  | TypeOrmManager;
