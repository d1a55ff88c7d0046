import { Pool } from 'pg';
import { Problem } from '../problem.ts';
import { configOf } from './config.ts';
import { listenOn, type Listening } from './listen.ts';
import type { Pooler } from './pooler.ts';
import { Query, statementName, type Rows, type Run } from './query.ts';

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

export interface ConnectOptions {
  /** Shown in pg_stat_activity. */
  readonly name: string;
  /** Most connections. Default 8. */
  readonly max?: number;
  /** Settings of each session, such as `plan_cache_mode`; names and values as they stand, never from outside. */
  readonly settings?: Readonly<Record<string, string>>;
  /** What stands before the database. Default: nothing. */
  readonly pooler?: Pooler | undefined;
}

/** Writes a statement: `sql<Row[]>`select … ${value}`` sends the value as a parameter; another query as value becomes part of it. */
export type Tag = <T extends readonly object[] = Record<string, unknown>[]>(
  strings: TemplateStringsArray,
  ...values: readonly unknown[]
) => Query<T>;

/** A pool or a transaction of it: what a verb needs to speak to PostgreSQL. */
export interface Queryable extends Tag {
  /** Sends text as it is, several statements allowed: for schemas and names, never for values. */
  unsafe<T extends readonly object[] = Record<string, unknown>[]>(text: string): Promise<Rows<T>>;
}

export type Transaction = Queryable;

/** A part of a statement, written like one. */
export type Fragment = Query<Record<string, unknown>[]>;

export interface Sql extends Queryable {
  /** Runs `act` in a transaction, on one connection; rolled back if it throws. */
  begin<R>(act: (transaction: Transaction) => Promise<R>): Promise<R>;
  /** Reads, in as many statements as `read` likes, what there was at one moment. */
  moment<R>(read: (transaction: Transaction) => Promise<R>): Promise<R>;
  /** Runs `act` on one connection without a transaction around it. */
  session<R>(act: (session: Queryable) => Promise<R>): Promise<R>;
  /** Hears what is notified on a channel, over connections that are made again when lost. Resolves once it hears. */
  listen(channel: string, hear: (payload: string) => void): Promise<Listening>;
  /** Closes the pool when its queries are done, or after `timeout` seconds. */
  end(options?: { readonly timeout?: number }): Promise<void>;
}

/** Opens a pool. Connections are made when first needed and made again when PostgreSQL comes back. */
export function connect(database: Database, { name, max = 8, settings = {}, pooler }: ConnectOptions): Sql {
  const opening = configOf(database, name, settings, pooler);
  const { config, Client, onConnect, namedStatements } = opening;
  const pool = new Pool({
    ...config,
    Client,
    ...(onConnect && { onConnect }),
    max,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
  });
  // An idle connection that breaks is dropped by the pool; who uses one learns of it from their query.
  pool.on('error', () => {});
  // The end of a connection can come in one packet with the last answer to one user: the next has it by then, and hears nothing yet.
  pool.on('connect', (client) => client.on('error', () => {}));

  const session = async <R>(act: (session: Queryable) => Promise<R>, discard = false): Promise<R> => {
    const client = await connected(pool.connect());
    let broken: unknown = discard;
    const onError = (error: Error): void => {
      broken = error;
    };
    client.on('error', onError);
    try {
      return await act(queryable((query) => client.query(query), namedStatements));
    } catch (error) {
      if (error instanceof DatabaseLost) broken = error;
      throw error;
    } finally {
      client.off('error', onError);
      client.release(broken !== false);
    }
  };

  const transact =
    (begin: string) =>
    <R>(act: (transaction: Transaction) => Promise<R>): Promise<R> =>
      session(async (transaction) => {
        await transaction.unsafe(begin);
        try {
          const result = await act(transaction);
          await transaction.unsafe('commit');
          return result;
        } catch (error) {
          await transaction.unsafe('rollback').catch(() => {});
          throw error;
        }
      });

  return Object.assign(
    queryable((query) => pool.query(query), namedStatements),
    {
      begin: transact('begin'),
      moment: transact('begin isolation level repeatable read, read only'),
      session: <R>(act: (session: Queryable) => Promise<R>) => session(act),
      listen: (channel: string, hear: (payload: string) => void) =>
        connected(listenOn(opening, channel, hear)),
      end: ({ timeout = 5 }: { readonly timeout?: number } = {}) =>
        Promise.race([
          pool.end(),
          new Promise<void>((resolve) => setTimeout(resolve, timeout * 1_000).unref()),
        ]),
    },
  );
}

type Send = (query: {
  name?: string | undefined;
  text: string;
  values?: unknown[];
}) => Promise<{ rows: object[]; rowCount: number | null }>;

function queryable(send: Send, named: boolean): Queryable {
  const run: Run = async (text, values) =>
    rowsOf(await connected(send({ name: named ? statementName(text) : undefined, text, values })));
  const tag: Tag = (strings, ...values) => new Query(run, strings, values);
  return Object.assign(tag, {
    unsafe: async <T extends readonly object[]>(text: string) =>
      rowsOf(await connected(send({ text }))) as unknown as Rows<T>,
  });
}

const rowsOf = ({ rows, rowCount }: { rows: object[]; rowCount: number | null }): Rows<object[]> =>
  // A text of several statements answers several results; nobody asks for their rows.
  Object.defineProperty(rows ?? [], 'count', { value: rowCount ?? 0 }) as Rows<object[]>;

/** PostgreSQL is away: nothing is known of what was under way. */
export class DatabaseLost extends Problem {
  override name = 'DatabaseLost';

  constructor(cause: unknown) {
    super(503, 'The database is unavailable. Try again.', {}, true);
    this.cause = cause;
  }
}

export async function connected<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw isLoss(error) ? new DatabaseLost(error) : error;
  }
}

/** What PostgreSQL answers has a severity; any other failure is one of the connection, and so are its goodbyes. */
function isLoss(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (!('severity' in error)) return true;
  return 'code' in error && typeof error.code === 'string' && /^(08|57P0|53300)/.test(error.code);
}
