import { Client, type ClientConfig } from 'pg';
import type { Host } from './address.ts';
import { destroy, SilentConnection } from './watch.ts';

interface Searched {
  readonly address: string;
  readonly hosts: readonly Host[];
  /** How long a host may take to respond. */
  readonly connectMs: number;
}

/** None of several hosts can be used. */
export class NoLeader extends Error {
  override name = 'NoLeader';

  /** The reason, by host. `ReadOnlyHost` if the host responds and is a standby. */
  readonly failures: readonly { readonly host: Host; readonly error: unknown }[];

  constructor(failures: NoLeader['failures']) {
    super('none of the hosts accepts writes');
    this.failures = failures;
  }
}

/** A host responds but is read-only. */
export class ReadOnlyHost extends Error {
  override name = 'ReadOnlyHost';

  constructor() {
    super('the host is read-only');
  }
}

const found = new Map<string, Host>();
const searches = new Map<string, Promise<Host>>();

/**
 * The host of `address` that accepts writes. All hosts are queried at the same time, so an unreachable one costs nothing while another is
 * the leader. Connections that are opened at the same time share the search, and its result is used until `forgetLeader`.
 */
export async function findLeader(config: ClientConfig & Searched): Promise<Host> {
  const { address } = config;
  const known = found.get(address);
  if (known) return known;
  let search = searches.get(address);
  if (!search) {
    search = firstWritable(config).finally(() => searches.delete(address));
    searches.set(address, search);
  }
  const leader = await search;
  found.set(address, leader);
  return leader;
}

/** Called after a connection to it could not be opened or was lost, because another host may be the leader now. */
export const forgetLeader = (address: string): boolean => found.delete(address);

async function firstWritable(config: ClientConfig & Searched): Promise<Host> {
  const { hosts } = config;
  const failures: { host: Host; error: unknown }[] = [];
  try {
    return await Promise.any(
      hosts.map(async (host) => {
        try {
          await ask(host, config);
          return host;
        } catch (error) {
          failures.push({ host, error });
          throw error;
        }
      }),
    );
  } catch {
    throw new NoLeader(
      hosts.map((host) => ({ host, error: failures.find((failure) => failure.host === host)?.error })),
    );
  }
}

async function ask(host: Host, config: ClientConfig & Searched): Promise<void> {
  const { connectMs } = config;
  const client = new Client(at(config, host));
  client.on('error', () => {});
  const isReadOnly = readOnlyReport(client);
  const late = setTimeout(() => destroy(client, new SilentConnection(connectMs)), connectMs);
  try {
    await client.connect();
    if (await isReadOnly()) throw new ReadOnlyHost();
  } finally {
    clearTimeout(late);
    destroy(client);
  }
}

/** The settings for one of the hosts. In the driver, a connection string takes precedence over `host` and `port`. */
function at({ connectionString, ...config }: ClientConfig, { host, port }: Host): ClientConfig {
  if (connectionString === undefined) return { ...config, host, port };
  const url = new URL(connectionString);
  url.searchParams.set('host', host);
  url.searchParams.set('port', String(port));
  return { ...config, connectionString: url.href };
}

/**
 * Determines, when a connection starts, whether it can write. PostgreSQL reports that when a session starts. Behind a pooler that does not
 * pass it on, a query is sent.
 */
export function readOnlyReport(client: Client): () => Promise<boolean> {
  const reported = new Map<string, string>();
  client.connection.on(
    'parameterStatus',
    ({ parameterName, parameterValue }: { parameterName: string; parameterValue: string }) =>
      reported.set(parameterName, parameterValue),
  );
  return async () => {
    const standby = reported.get('in_hot_standby');
    if (standby !== undefined)
      return standby === 'on' || reported.get('default_transaction_read_only') === 'on';
    const { rows } = await client.query<{ locked: boolean }>(
      `select pg_is_in_recovery() or current_setting('transaction_read_only')::bool as locked`,
    );
    return rows[0]?.locked ?? false;
  };
}
