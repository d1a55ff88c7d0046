import { Pool, type Client, type ClientBase } from 'pg';
import { configOf } from './config.ts';
import type { Database, Pooler } from './database.ts';
import { codeOf, DatabaseLost, detectLoss } from './errors.ts';
import { ReadOnlyHost } from './leader.ts';
import { listenOn, startPulse, type Listening } from './listen.ts';
import { Query, statementName, type Rows, type Run } from './query.ts';
import { answered, destroyAll, type StatementKind } from './watch.ts';

export type { Database } from './database.ts';

export interface ConnectOptions {
  /** The application name in pg_stat_activity. */
  readonly name: string;
  /** Maximum number of connections. Default 8. */
  readonly max?: number;
  /** Settings of each session, such as `plan_cache_mode`. Names and values are not escaped, so they must never come from outside. */
  readonly settings?: Readonly<Record<string, string>>;
  /** How long its statements may go unanswered. Default: `everyday`. */
  readonly kind?: StatementKind;
  /** The pooler in front of the database. Default: none. */
  readonly pooler?: Pooler | undefined;
  /** Its connections stay open when those of other pools are dropped because the database became read-only. */
  readonly isIndependent?: boolean;
}

/** Creates a statement: `sql<Row[]>`select … ${value}`` sends the value as a parameter. A query as a value becomes part of the text. */
export type Tag = <T extends readonly object[] = Record<string, unknown>[]>(
  strings: TemplateStringsArray,
  ...values: readonly unknown[]
) => Query<T>;

/** A pool or a transaction: the interface for sending statements to PostgreSQL. */
export interface Queryable extends Tag {
  /** Sends a text verbatim. It may contain several statements. Use it for schemas and names, never for values. */
  unsafe<T extends readonly object[] = Record<string, unknown>[]>(text: string): Promise<Rows<T>>;
}

export type Transaction = Queryable;

/** A part of a statement, written like one. */
export type Fragment = Query<Record<string, unknown>[]>;

/** Statistics of a connection pool. */
export interface PoolLoad {
  readonly open: number;
  readonly idle: number;
  readonly waiting: number;
  readonly max: number;
}

export interface Sql extends Queryable {
  /** Runs `act` in a transaction, which is rolled back if `act` rejects. */
  begin<R>(act: (transaction: Transaction) => Promise<R>): Promise<R>;
  /** Runs `read` in a read-only transaction, in which all statements see the same snapshot. */
  moment<R>(read: (transaction: Transaction) => Promise<R>): Promise<R>;
  /** Runs `act` on one connection without a transaction around it. */
  session<R>(act: (session: Queryable) => Promise<R>): Promise<R>;
  /** Calls `onNotification` for each notification on a channel. A lost connection is reopened. Resolves once listening. */
  listen(channel: string, onNotification: (payload: string) => void): Promise<Listening>;
  /** Detects within seconds that the host no longer responds. `listen` does so as well. */
  pulse(): Promise<Listening>;
  /**
   * Whether the database is a standby and rejects writes. If so, its connections are reopened, because the host name may resolve to the
   * primary by now.
   */
  isReadOnly(): Promise<boolean>;
  /** The number of open connections, idle connections, and calls that wait for one. */
  load(): PoolLoad;
  /** Closes the pool when its queries are done, or after `timeout` seconds. */
  end(options?: { readonly timeout?: number }): Promise<void>;
}

/** How long a call waits for a free connection. */
const poolWaitMs = 10_000;
/** The SQLSTATE of a write in a read-only transaction. */
const readOnlyTransaction = '25006';

/** Opens a pool. Connections are opened on demand, and again when PostgreSQL is back. */
export function connect(
  database: Database,
  { name, max = 8, settings = {}, kind = 'everyday', pooler, isIndependent = false }: ConnectOptions,
): Sql {
  const opening = configOf(database, name, settings, pooler);
  const { Client: Opened, onConnect, namedStatements } = opening;
  const { address } = opening.config;
  const config = { ...opening.config, address: isIndependent ? `${address} ${name}` : address };
  const pool = new Pool({
    ...config,
    // The pool calls the constructor with these options, which are missing from its types.
    Client: Opened as unknown as new () => ClientBase,
    ...(onConnect && { onConnect }),
    max,
    idleTimeoutMillis: 60_000,
    connectionTimeoutMillis: poolWaitMs,
  });
  // The pool drops an idle connection that breaks. For one in use, the current query rejects.
  pool.on('error', () => {});

  /** Sessions of a primary that became a standby may stay open, and would never accept a write again. */
  const reconnect = (): void => destroyAll(config.address, new ReadOnlyHost());

  /** Calls `act` with a connection and drops the connection afterwards if it is no longer usable. */
  const borrow = async <R>(act: (client: Client) => Promise<R>): Promise<R> => {
    const client = await detectLoss(pool.connect());
    let broken = false;
    const onError = (): void => {
      broken = true;
    };
    client.on('error', onError);
    try {
      return await act(client);
    } catch (error) {
      if (error instanceof DatabaseLost) broken = true;
      if (codeOf(error) === readOnlyTransaction) reconnect();
      throw error;
    } finally {
      client.off('error', onError);
      client.release(broken);
    }
  };
  const sendOn =
    (client: Client): Send =>
    (query) =>
      detectLoss(answered(client, kind, client.query(query)));
  const session = <R>(act: (session: Queryable) => Promise<R>): Promise<R> =>
    borrow((client) => act(queryable(sendOn(client), namedStatements)));

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

  const tag = queryable((query) => borrow((client) => sendOn(client)(query)), namedStatements);
  return Object.assign(tag, {
    begin: transact('begin'),
    moment: transact('begin isolation level repeatable read, read only'),
    session,
    listen: (channel: string, onNotification: (payload: string) => void) =>
      detectLoss(listenOn(opening, channel, onNotification)),
    pulse: () => detectLoss(startPulse(opening)),
    isReadOnly: async () => {
      const [row] = await tag<{ isReadOnly: boolean }[]>`
        select pg_is_in_recovery() or current_setting('transaction_read_only')::bool as "isReadOnly"`;
      if (row?.isReadOnly) reconnect();
      return row?.isReadOnly ?? false;
    },
    load: () => ({ open: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount, max }),
    end: ({ timeout = 5 }: { readonly timeout?: number } = {}) =>
      Promise.race([
        pool.end(),
        new Promise<void>((resolve) => setTimeout(resolve, timeout * 1_000).unref()),
      ]),
  });
}

type Send = (query: {
  name?: string | undefined;
  text: string;
  values?: unknown[];
}) => Promise<{ rows: object[]; rowCount: number | null }>;

function queryable(send: Send, named: boolean): Queryable {
  const run: Run = async (text, values) =>
    rowsOf(await send({ name: named ? statementName(text) : undefined, text, values }));
  const tag: Tag = (strings, ...values) => new Query(run, strings, values);
  return Object.assign(tag, {
    unsafe: async <T extends readonly object[]>(text: string) =>
      rowsOf(await send({ text })) as unknown as Rows<T>,
  });
}

const rowsOf = ({ rows, rowCount }: { rows: object[]; rowCount: number | null }): Rows<object[]> =>
  // A text with several statements has several results, whose rows are never used.
  Object.defineProperty(rows ?? [], 'count', { value: rowCount ?? 0 }) as Rows<object[]>;
