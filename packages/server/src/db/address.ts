import { DatabaseRefused } from './errors.ts';

export interface Host {
  /** A host name, an IP address or a socket directory. */
  readonly host: string;
  readonly port: number;
}

/** The parts of a connection string that name the hosts. */
export interface Address {
  /** At least one, in the order of the text. */
  readonly hosts: readonly Host[];
  /** The same address with only the first host and without the parameters read here, for the driver. */
  readonly url: URL;
  /** How long opening a connection to one host may take. */
  readonly connectMs: number | undefined;
}

const format = 'use the form postgresql://user:password@host:5432/database';
const authority =
  /^(?<scheme>postgres(?:ql)?):\/\/(?:(?<user>[^/?#]*)@)?(?<hosts>[^/?#]*)(?<path>\/[^?#]*)?(?:\?(?<query>[^#]*))?(?:#.*)?$/i;
/** One `host:port` of an authority. IPv6 addresses are in brackets. */
const hostAndPort = /^(?<host>\[[^\]]+\]|[^:[\]]*)(?::(?<port>\d*))?$/;
const defaultPort = 5_432;

/**
 * Reads a connection string as libpq does: `postgresql://user:password@host1:5432,host2/database`, or with the parameters `host` and
 * `port`. Invalid text is rejected with an error that never quotes it, because it may contain a password.
 */
export function readAddress(text: string, variable = 'DATABASE_URL'): Address {
  const refuse = (message: string): never => {
    throw new DatabaseRefused(`${variable} ${message}`);
  };
  const parts = authority.exec(text)?.groups;
  if (!parts) return refuse(`is not the address of a PostgreSQL database; ${format}.`);
  const query = new URLSearchParams(parts['query'] ?? '');
  checkTarget(query, refuse);
  const hosts = readHosts(parts['hosts'] ?? '', query, refuse);
  const connectMs = readConnectTimeout(query, refuse);
  for (const name of ['target_session_attrs', 'load_balance_hosts', 'connect_timeout']) query.delete(name);
  // For the driver, the first host is put into the query, because only there may it be a socket directory.
  const [{ host, port }] = hosts as [Host];
  query.set('host', host);
  query.set('port', String(port));
  const user = parts['user'] === undefined ? '' : `${parts['user']}@`;
  const single = `${parts['scheme']}://${user}${host.includes('/') ? 'localhost' : inUrl(host)}:${port}${parts['path'] ?? ''}?${query.toString()}`;
  if (!URL.canParse(single))
    return refuse(
      `is not the address of a PostgreSQL database; ${format}, with characters such as @ / : % in the password as %40 %2F %3A %25.`,
    );
  return { hosts, url: new URL(single), connectMs };
}

/** Hosts and ports in readable form, without user and password. */
export const nameOfHosts = (hosts: readonly Host[]): string =>
  hosts.map(({ host, port }) => `${inUrl(host)}:${port}`).join(', ');

const inUrl = (host: string): string => (host.includes(':') ? `[${host}]` : host);

type Refuse = (message: string) => never;

function readHosts(text: string, query: URLSearchParams, refuse: Refuse): Host[] {
  const parameter = query.get('host');
  const pairs =
    parameter === null || parameter === ''
      ? text.split(',').map((host) => pairOf(host, refuse))
      : parameter.split(',').map((host) => ({ host: host.replace(/^\[(.*)\]$/, '$1'), port: '' }));
  const inAuthority = pairs.map(({ port }) => port);
  // Without hosts in the query, its port also applies to those of the authority.
  const ports = query.get('port')?.split(',') ?? (parameter ? portsOf(text, refuse) : inAuthority);
  if (ports.length !== 1 && ports.length !== pairs.length)
    return refuse(`has ${pairs.length} hosts and ${ports.length} ports: set one port, or one for each host.`);
  return pairs.map(({ host }, index) => {
    const port = ports[ports.length === 1 ? 0 : index] || String(defaultPort);
    if (!/^\d+$/.test(port) || Number(port) < 1 || Number(port) > 65_535)
      return refuse(`has the port ${JSON.stringify(port)}; a port is a number from 1 to 65535.`);
    if (host === '' && pairs.length > 1) return refuse('has an empty host name in its list of hosts.');
    return { host: host || 'localhost', port: Number(port) };
  });
}

const portsOf = (text: string, refuse: Refuse): string[] =>
  text.split(',').map((host) => pairOf(host, refuse).port);

function pairOf(text: string, refuse: Refuse): { host: string; port: string } {
  const pair = hostAndPort.exec(text)?.groups;
  if (!pair)
    return refuse(
      `has an invalid host; ${format}, with an IPv6 address in brackets, and characters such as @ / : % in the password as %40 %2F %3A %25.`,
    );
  try {
    const host = decodeURIComponent(pair['host'] ?? '').replace(/^\[(.*)\]$/, '$1');
    return { host, port: pair['port'] ?? '' };
  } catch {
    return refuse('has a host with an invalid percent-encoding.');
  }
}

/** Millrace writes, so it always uses the primary, even with `any`. */
function checkTarget(query: URLSearchParams, refuse: Refuse): void {
  const target = query.get('target_session_attrs');
  if (target === null || ['any', 'read-write', 'primary'].includes(target)) return;
  refuse(
    ['read-only', 'standby', 'prefer-standby'].includes(target)
      ? `has target_session_attrs=${target}, but Millrace writes to its database: use read-write.`
      : `has an unknown target_session_attrs: use read-write, primary or any.`,
  );
}

function readConnectTimeout(query: URLSearchParams, refuse: Refuse): number | undefined {
  const text = query.get('connect_timeout');
  if (text === null) return undefined;
  if (!/^\d{1,4}$/.test(text))
    return refuse('has a connect_timeout that is not a whole number of seconds, such as 3.');
  // In libpq, 0 means to wait forever, which is not supported here.
  return text === '0' ? undefined : Number(text) * 1_000;
}
