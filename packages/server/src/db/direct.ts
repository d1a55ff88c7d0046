import type { Client, Connection, Submittable } from 'pg';
import type { Parameter } from './binary.ts';
import { configOf, openClient, type ConnectionConfig } from './config.ts';
import type { ConnectOptions } from './connect.ts';
import type { Database } from './database.ts';
import { detectLoss } from './errors.ts';

/** The columns of a row as PostgreSQL writes them. */
export type TextRow = readonly (string | null)[];

/**
 * A connection of its own, to PostgreSQL or a pooler in session mode, for a few statements that are sent all the time, one after the other. Each is prepared once; what goes out is
 * one buffer, and what comes back is not described again. Of a lone append the pool and the general way cost as much as the insert.
 */
export class Direct<Name extends string> {
  readonly #opening: ConnectionConfig;
  readonly #statements: Readonly<Record<Name, string>>;
  #client: Client | undefined;
  #last: Promise<unknown> | undefined;

  /** `statements` by name; each parameter in them has a type. */
  constructor(
    database: Database,
    { name, settings = {}, pooler }: Omit<ConnectOptions, 'max'>,
    statements: Readonly<Record<Name, string>>,
  ) {
    this.#opening = configOf(database, name, settings, pooler);
    this.#statements = statements;
  }

  /** Sends a statement when the one before it is answered. Connects first, where there is no connection. */
  send(name: Name, parameters: readonly Parameter[]): Promise<TextRow[]> {
    const client = this.#client;
    const sent = detectLoss(
      client
        ? answered(client, name, parameters)
        : this.#connect().then((opened) => answered(opened, name, parameters)),
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
    const client = new Opened({ ...config, keepAlive: true });
    const forget = (): void => {
      if (this.#client === client) this.#client = undefined;
    };
    // Whoever waits for an answer learns of it there; its end follows.
    client.on('error', forget);
    client.on('end', forget);
    try {
      await openClient(client, this.#opening);
      for (const [name, text] of Object.entries(this.#statements))
        await client.query(`prepare ${name} as ${String(text)}`);
    } catch (error) {
      client.end().catch(() => {});
      throw error;
    }
    this.#client = client;
    return client;
  }
}

const answered = (client: Client, name: string, parameters: readonly Parameter[]): Promise<TextRow[]> =>
  new Promise((resolve, reject) => {
    client.query(new Sent(messagesOf(name, parameters), resolve, reject));
  });

/** What the driver tells of a statement that is under way. */
class Sent implements Submittable {
  readonly #messages: Buffer;
  readonly #rows: TextRow[] = [];
  readonly #resolve: (rows: TextRow[]) => void;
  readonly handleError: (error: unknown) => void;

  constructor(messages: Buffer, resolve: (rows: TextRow[]) => void, reject: (error: unknown) => void) {
    this.#messages = messages;
    this.#resolve = resolve;
    this.handleError = reject;
  }

  submit({ stream }: Connection): void {
    stream.write(this.#messages);
  }

  handleDataRow({ fields }: { fields: TextRow }): void {
    this.#rows.push(fields);
  }

  handleCommandComplete(): void {}

  /** The transaction has ended by then. */
  handleReadyForQuery(): void {
    this.#resolve(this.#rows);
  }
}

/** Bind, Execute and Sync: parameters in binary, rows in text. */
function messagesOf(name: string, parameters: readonly Parameter[]): Buffer {
  const bind = parameters.reduce((sum, { bytes }) => sum + 4 + bytes, 4 + 1 + name.length + 1 + 4 + 2 + 4);
  const messages = Buffer.allocUnsafe(1 + bind + ending.length);
  messages[0] = 66; // B
  let at = messages.writeInt32BE(bind, 1);
  messages[at++] = 0;
  at += messages.write(name, at, 'latin1');
  messages[at++] = 0;
  // One format for all of them, binary.
  at = messages.writeInt32BE(0x0001_0001, at);
  at = messages.writeInt16BE(parameters.length, at);
  for (const parameter of parameters) {
    at = messages.writeInt32BE(parameter.bytes, at);
    parameter.write(messages, at);
    at += parameter.bytes;
  }
  at = messages.writeInt32BE(0x0001_0000, at);
  ending.copy(messages, at);
  return messages;
}

const ending = Buffer.from([69, 0, 0, 0, 9, 0, 0, 0, 0, 0, 83, 0, 0, 0, 4]); // E, S
