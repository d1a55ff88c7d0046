import { Client, type ClientBase, type ClientConfig } from 'pg';
import type { Database, Pooler } from './database.ts';

/** How to open a connection. */
export interface ConnectionConfig {
  readonly config: ClientConfig;
  /** The class of the client; the driver's pool also accepts it. */
  readonly Client: typeof Client;
  /** Called with a new connection before its first use. */
  readonly onConnect?: (client: ClientBase) => Promise<void>;
  readonly namedStatements: boolean;
}

/** The driver reads dates and intervals in PostgreSQL's default formats. A role or a database may have others. */
const always = { TimeZone: 'UTC', DateStyle: 'ISO', IntervalStyle: 'postgres' };

/**
 * Settings are sent in the startup message, which costs no round trip. Poolers reject that. In session mode the settings are set on each new
 * connection. In transaction mode only the two that every pooler tracks can be set; all others keep the role's values.
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
    return { config, Client: TrackedClient, namedStatements: pooler.namedStatements };
  // Without `server_reset_query`, the session still has the prepared statements of the previous client.
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

/** Connects a client outside of any pool. The caller must end it, even if this rejects. */
export async function openClient(client: Client, { onConnect }: ConnectionConfig): Promise<void> {
  await client.connect();
  await onConnect?.(client);
}

/** Poolers track these two settings of the startup message for each client, and set them in each session that they use for it. */
class TrackedClient extends Client {
  // A method of the driver that its types leave out.
  getStartupConf(): Record<string, string> {
    const { prototype } = Client as unknown as { prototype: { getStartupConf(): Record<string, string> } };
    return { ...prototype.getStartupConf.call(this), TimeZone: always.TimeZone, DateStyle: always.DateStyle };
  }
}

/** The driver's settings for the address of a database. */
export function driverConfig(database: Database): ClientConfig {
  if (typeof database === 'string') return { connectionString: asInLibpq(database) };
  const { username, ...rest } = database;
  return { ...rest, user: username };
}

/**
 * Gives `sslmode` its libpq meaning, because operators paste addresses that work in psql. The driver treats `require` as `verify-full` and
 * writes a warning to stderr.
 */
function asInLibpq(text: string): string {
  if (!URL.canParse(text)) return text;
  const url = new URL(text);
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
