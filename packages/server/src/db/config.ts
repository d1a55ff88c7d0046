import { Client, type ClientBase, type ClientConfig } from 'pg';
import type { Database } from './connect.ts';
import type { Pooler } from './pooler.ts';

/** What a connection needs to be told, and how. */
export interface ConnectionConfig {
  readonly config: ClientConfig;
  /** Given to the driver's pool as well, which makes its own. */
  readonly Client: typeof Client;
  /** What is left to do on a new connection before its first use. */
  readonly onConnect?: (client: ClientBase) => Promise<void>;
  readonly namedStatements: boolean;
}

/** Dates and intervals are read as PostgreSQL writes them by default; a role or a database may say otherwise. */
const always = { TimeZone: 'UTC', DateStyle: 'ISO', IntervalStyle: 'postgres' };

/**
 * Settings go in the startup message, which costs nothing. Poolers refuse that: in session mode they are set on each new connection, in
 * transaction mode nothing can be set but the two that every pooler follows, and what else is wanted stays as the role has it.
 */
export function configOf(
  database: Database,
  name: string,
  settings: Readonly<Record<string, string>>,
  pooler?: Pooler,
): ConnectionConfig {
  const all = { ...always, ...settings };
  const common = { application_name: name, connectionTimeoutMillis: 10_000 };
  const config = { ...driverConfig(database), ...common };
  if (pooler === undefined) {
    const options = Object.entries(all).map(([setting, value]) => `-c ${setting}=${value}`);
    return { config: { ...config, options: options.join(' ') }, Client, namedStatements: true };
  }
  if (pooler.mode === 'transaction')
    return { config, Client: FollowedClient, namedStatements: pooler.namedStatements };
  // What whoever had this session of PostgreSQL before has prepared in it, if the pooler did not clean up.
  const texts = [
    'deallocate all',
    ...Object.entries(all).map(([setting, value]) => `set ${setting} to '${value}'`),
  ];
  return {
    config,
    Client,
    namedStatements: true,
    onConnect: async (client) => void (await client.query(texts.join('; '))),
  };
}

/** Connects a client of its own, outside of any pool. Whoever calls ends it, also when this rejects. */
export async function openClient(client: Client, { onConnect }: ConnectionConfig): Promise<void> {
  await client.connect();
  await onConnect?.(client);
}

/** In the startup message by their names, poolers remember these two for each client and set them wherever they send it. */
class FollowedClient extends Client {
  // Of the driver, which has no types for it.
  getStartupConf(): Record<string, string> {
    const { prototype } = Client as unknown as { prototype: { getStartupConf(): Record<string, string> } };
    return { ...prototype.getStartupConf.call(this), TimeZone: always.TimeZone, DateStyle: always.DateStyle };
  }
}

/** How the driver is told where a database is. */
export function driverConfig(database: Database): ClientConfig {
  if (typeof database === 'string') return { connectionString: asLibpqReadsIt(database) };
  const { username, ...rest } = database;
  return { ...rest, user: username };
}

/**
 * The driver takes `require` for `verify-full` and says so on stderr; everybody else means "encrypted" by it. Operators paste addresses that
 * worked in psql.
 */
function asLibpqReadsIt(text: string): string {
  if (!URL.canParse(text)) return text;
  const url = new URL(text);
  const { searchParams: given } = url;
  // The authorities that this runtime knows, which is what the driver uses where no file is named.
  if (given.get('sslrootcert') === 'system') given.delete('sslrootcert');
  if (given.get('sslmode') === 'allow') given.set('sslmode', 'prefer');
  if (/^(prefer|require|verify-ca)$/.test(given.get('sslmode') ?? '') && !given.has('uselibpqcompat'))
    given.set('uselibpqcompat', 'true');
  return url.href;
}
