import type { Client } from 'pg';
import { readAddress } from './address.ts';
import { WatchedClient } from './client.ts';
import { watchedConfig } from './config.ts';
import type { Database, Route } from './database.ts';
import { detectPooler } from './detect-pooler.ts';
import { DatabaseRefused } from './errors.ts';
import { explainConnection, explainSetUp, readOnly } from './explain.ts';
import { destroy } from './watch.ts';

const pingTimeoutMs = 10_000;

/**
 * Checks that a database can be used and detects a pooler in front of it. Otherwise rejects with `DatabaseRefused` and a one-sentence
 * message. `variable` is the name of the setting in that sentence.
 */
export async function ping(database: Database, variable = 'DATABASE_URL'): Promise<Route> {
  refuseUnknownTlsMode(database, variable);
  const fallback = withoutTls(database);
  try {
    return await probe(database, variable);
  } catch (error) {
    if (error instanceof DatabaseRefused) throw error;
    // `prefer` and `allow` have their usual meaning: TLS if the server offers it.
    if (fallback === undefined || !/does not support SSL/i.test(String(error)))
      throw explained(error, database, variable);
  }
  try {
    return await probe(fallback, variable);
  } catch (error) {
    throw error instanceof DatabaseRefused ? error : explained(error, fallback, variable);
  }
}

async function probe(database: Database, variable: string): Promise<Route> {
  const clients: Client[] = [];
  const open = async (): Promise<Client> => {
    const config = watchedConfig(database, variable);
    // A single host gets more time than one of several, because there is no alternative.
    const connectMs = config.hosts.length > 1 ? config.connectMs : Math.max(config.connectMs, pingTimeoutMs);
    const client = new WatchedClient({ ...config, connectMs, application_name: 'millrace probe' });
    clients.push(client);
    await client.connect();
    return client;
  };
  try {
    const first = await open();
    await Promise.race([refuseReadOnly(first, variable), noAnswer()]);
    return { database, pooler: await detectPooler(first, open, variable) };
  } finally {
    for (const client of clients) destroy(client);
  }
}

async function refuseReadOnly(client: Client, variable: string): Promise<void> {
  const { rows } = await client.query<{ locked: boolean; encoding: string }>(
    `select pg_is_in_recovery() or current_setting('transaction_read_only')::bool as locked,
            current_setting('server_encoding') as encoding`,
  );
  if (rows[0]?.locked) throw new DatabaseRefused(readOnly(variable));
  if (rows[0] && rows[0].encoding !== 'UTF8') {
    throw new DatabaseRefused(
      `The database in ${variable} has the encoding ${rows[0].encoding}, which cannot store all text: create one with \`createdb --encoding UTF8 --template template0\`.`,
    );
  }
}

const noAnswer = (): Promise<never> =>
  new Promise((_, reject) =>
    setTimeout(reject, pingTimeoutMs, new Error('no answer within ten seconds')).unref(),
  );

// The modes of psql, and `no-verify` of the driver.
const tlsModes = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'];

/** The driver silently treats an unknown mode as another one. */
function refuseUnknownTlsMode(database: Database, variable: string): void {
  if (typeof database !== 'string') return;
  const { url } = readAddress(database, variable);
  const unknown = url.searchParams.getAll('sslmode').find((mode) => !tlsModes.includes(mode));
  if (unknown === undefined) return;
  throw new DatabaseRefused(
    `${variable} has the unknown sslmode ${JSON.stringify(unknown)}: use one of ${tlsModes.join(', ')}.`,
  );
}

/** The same address without TLS, if its mode makes TLS optional. */
function withoutTls(database: Database): Database | undefined {
  if (typeof database !== 'string') return undefined;
  // Not parsed as a URL, which can have only one host.
  const optional = /(?<=[?&]sslmode=)(?:prefer|allow)(?=[&#]|$)/;
  return optional.test(database) ? database.replace(optional, 'disable') : undefined;
}

const explained = (error: unknown, database: Database, variable: string): DatabaseRefused =>
  new DatabaseRefused(explainConnection(error, database, variable));

/** Sets up a database. Failures caused by its settings become a `DatabaseRefused` with a one-sentence message. */
export async function settingUp<R>(variable: string, act: () => Promise<R>): Promise<R> {
  try {
    return await act();
  } catch (error) {
    const sentence = explainSetUp(error, variable);
    throw sentence === undefined ? error : new DatabaseRefused(sentence);
  }
}
