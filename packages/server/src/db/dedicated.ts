import type { Client, QueryArrayConfig } from 'pg';
import { configOf, openClient, type ConnectionConfig } from './config.ts';
import type { ConnectOptions } from './connect.ts';
import type { Database } from './database.ts';
import { detectLoss } from './errors.ts';
import { answered } from './watch.ts';

/** The columns of a row as PostgreSQL writes them. */
export type TextRow = readonly (string | null)[];

/** Rows are arrays of texts; the driver neither names nor parses columns. */
const asText = { rowMode: 'array', types: { getTypeParser: () => (value: string) => value } } as const;

/**
 * One connection to PostgreSQL, or to a pooler in session mode, for a few frequent statements. Each is prepared once. For a single append,
 * the pool and the tagged templates of `connect` would account for a third of this process's cost (decision 0007).
 */
export class DedicatedConnection<Name extends string> {
  readonly #opening: ConnectionConfig;
  readonly #statements: Readonly<Record<Name, string>>;
  #client: Client | undefined;
  #last: Promise<unknown> | undefined;

  /** `statements` by name; each of their parameters has a type. */
  constructor(
    database: Database,
    { name, settings = {}, pooler }: Omit<ConnectOptions, 'max'>,
    statements: Readonly<Record<Name, string>>,
  ) {
    this.#opening = configOf(database, name, settings, pooler);
    this.#statements = statements;
  }

  /** Sends a statement after the previous one. Connects first if necessary. */
  send(name: Name, values: readonly (string | number)[]): Promise<TextRow[]> {
    const query: QueryArrayConfig = { ...asText, name, text: this.#statements[name], values: [...values] };
    const on = (client: Client) => answered(client, 'engine', client.query<string[]>(query));
    const client = this.#client;
    const sent = detectLoss(
      (client ? on(client) : this.#connect().then(on)).then(({ rows }) => rows as TextRow[]),
    );
    this.#last = sent;
    return sent;
  }

  /** Closes the connection when its statement is done, or after `timeout` seconds. */
  async end({ timeout }: { readonly timeout: number }): Promise<void> {
    const late = new Promise<void>((resolve) => setTimeout(resolve, timeout * 1_000).unref());
    await Promise.race([this.#last?.catch(() => {}), late]);
    await Promise.race([this.#client?.end(), late]);
  }

  async #connect(): Promise<Client> {
    const { Client: Opened, config } = this.#opening;
    const client = new Opened(config);
    const forget = (): void => {
      if (this.#client === client) this.#client = undefined;
    };
    // The current statement rejects as well. `end` follows.
    client.on('error', forget);
    client.on('end', forget);
    try {
      await openClient(client, this.#opening);
    } catch (error) {
      client.end().catch(() => {});
      throw error;
    }
    this.#client = client;
    return client;
  }
}
