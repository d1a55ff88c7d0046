import type { ClientBase } from 'pg';
import { readAddress } from './address.ts';
import { WatchedClient, type WatchedConfig } from './client.ts';
import type { Database, Pooler } from './database.ts';
import { answered } from './watch.ts';

/** How to open a connection. */
export interface ConnectionConfig {
  readonly config: WatchedConfig;
  /** The class of the client; the driver's pool also accepts it. */
  readonly Client: typeof WatchedClient;
  /** Called with a new connection before its first use. */
  readonly onConnect?: (client: ClientBase) => Promise<void>;
  readonly namedStatements: boolean;
}

/** The driver reads dates and intervals in PostgreSQL's default formats. A role or a database may have others. */
const always = { TimeZone: 'UTC', DateStyle: 'ISO', IntervalStyle: 'postgres' };

/**
 * Settings are sent in the startup message, which costs no round trip. Poolers reject those, so in session mode the settings are set on
 * each new connection. In transaction mode only the two that every pooler tracks can be set; all others keep the role's values.
 */
export function configOf(
  database: Database,
  name: string,
  settings: Readonly<Record<string, string>>,
  pooler?: Pooler,
): ConnectionConfig {
  const all = { ...always, ...settings };
  const config = { ...watchedConfig(database), application_name: name };
  if (pooler === undefined) {
    const options = Object.entries(all).map(([setting, value]) => `-c ${setting}=${value}`);
    return {
      config: { ...config, options: options.join(' ') },
      Client: WatchedClient,
      namedStatements: true,
    };
  }
  if (pooler.mode === 'transaction')
    return { config, Client: TrackedClient, namedStatements: pooler.namedStatements };
  // Without `server_reset_query`, the session still has the previous client's prepared statements.
  const texts = [
    'deallocate all',
    ...Object.entries(all).map(([setting, value]) => `set ${setting} to '${value}'`),
  ];
  return {
    config,
    Client: WatchedClient,
    namedStatements: true,
    onConnect: async (client) => void (await client.query(texts.join('; '))),
  };
}

/** Connects a client outside of any pool. The caller must end it, even if this rejects. */
export async function openClient(client: WatchedClient, { onConnect }: ConnectionConfig): Promise<void> {
  await client.connect();
  if (onConnect) await answered(client, 'everyday', onConnect(client));
}

/** Poolers track these two settings of the startup message for each client, and set them in each session that they use for it. */
class TrackedClient extends WatchedClient {
  // A driver method that is missing from its types.
  getStartupConf(): Record<string, string> {
    const { prototype } = WatchedClient as unknown as {
      prototype: { getStartupConf(): Record<string, string> };
    };
    return { ...prototype.getStartupConf.call(this), TimeZone: always.TimeZone, DateStyle: always.DateStyle };
  }
}

/** How long opening a connection may take: a lost SYN is resent after one second, and once more after three. */
const defaultConnectMs = 4_000;
/** After this time, Linux sends a probe each second, and closes the connection after ten without a reply. */
const keepAliveMs = 5_000;

/** The settings for the address of a database. `variable` is the name of its setting in errors. */
export function watchedConfig(database: Database, variable?: string): WatchedConfig {
  const common = {
    address: JSON.stringify(database),
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMs,
  };
  if (typeof database !== 'string') {
    const { username, host, port = 5_432, ...rest } = database;
    return {
      ...rest,
      ...common,
      host,
      port,
      user: username,
      hosts: [{ host, port }],
      connectMs: defaultConnectMs,
    };
  }
  const { url, hosts, connectMs = defaultConnectMs } = readAddress(database, variable);
  return { ...common, connectionString: asInLibpq(url), hosts, connectMs };
}

/**
 * Gives `sslmode` its libpq meaning, because operators paste addresses that work in psql. The driver treats `require` as `verify-full` and
 * writes a warning to stderr.
 */
function asInLibpq(url: URL): string {
  const { searchParams: parameters } = url;
  // The driver uses the runtime's certificate authorities when no file is named.
  if (parameters.get('sslrootcert') === 'system') parameters.delete('sslrootcert');
  if (parameters.get('sslmode') === 'allow') parameters.set('sslmode', 'prefer');
  if (
    /^(prefer|require|verify-ca)$/.test(parameters.get('sslmode') ?? '') &&
    !parameters.has('uselibpqcompat')
  )
    parameters.set('uselibpqcompat', 'true');
  return url.href;
}
