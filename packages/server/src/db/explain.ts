import { nameOfHosts, readAddress } from './address.ts';
import type { Database } from './database.ts';
import { NoLeader, ReadOnlyHost } from './leader.ts';

/** The meaning of an error code for the person who set up the database, and the fix. */
const byCode: Readonly<Record<string, string>> = {
  ENOTFOUND: 'its host was not found; check the host name and the DNS settings of this machine',
  EAI_AGAIN: 'the name of its host cannot be resolved; check the DNS of this machine',
  ECONNREFUSED: 'nothing is listening there; start PostgreSQL, or correct host and port',
  EHOSTUNREACH: 'its host is unreachable from here',
  ENETUNREACH: 'its network is unreachable from here',
  ETIMEDOUT: 'its host does not respond; check host, port and firewall',
  ECONNRESET: 'it closed the connection; check that the port is that of PostgreSQL',
  EACCES: 'this user has no permission to use its socket',
  ERR_INVALID_CHAR: 'its address has an invalid character',
  '28P01':
    'it rejects the password; correct it, and write characters such as @ / : % in it as %40 %2F %3A %25',
  '28000': 'it rejects this role from this host; check the role, sslmode and pg_hba.conf',
  '3D000': 'it has no database with this name; create it with `createdb`, or correct the name',
  '53300':
    'it has no connections left; raise max_connections or the connection limit of the role, or close other connections',
  '57P03': 'it is starting up or shutting down; try again',
  '42501': 'the role may not connect to it; grant it CONNECT on the database',
  DEPTH_ZERO_SELF_SIGNED_CERT:
    'its certificate is self-signed; pass sslrootcert=<file>, or sslmode=require, which does not verify it',
  SELF_SIGNED_CERT_IN_CHAIN:
    'its certificate is from an unknown authority; pass sslrootcert=<file>, or sslmode=require, which does not verify it',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'its certificate is from an unknown authority; pass sslrootcert=<file>, or sslmode=require, which does not verify it',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    'its certificate is from an unknown authority; pass sslrootcert=<file>, or sslmode=require, which does not verify it',
  CERT_HAS_EXPIRED: 'its certificate has expired; renew it',
  ERR_TLS_CERT_ALTNAME_INVALID:
    'its certificate does not match this host name; use the name in the certificate, or sslmode=verify-ca',
};

/** Why a database cannot be used, and the fix, in one sentence without the password. */
export function explainConnection(error: unknown, database: Database, variable: string): string {
  const where = `The database at ${addressOf(database)} cannot be used`;
  if (!(error instanceof NoLeader)) return `${where}: ${reasonOf(error, variable)}.`;
  const { failures } = error;
  const summary = failures.some((failure) => failure.error instanceof ReadOnlyHost)
    ? 'none of its hosts accepts writes'
    : 'none of its hosts can be connected to';
  const details = failures.map(
    (failure) => `${nameOfHosts([failure.host])}: ${reasonOf(failure.error, variable)}`,
  );
  return `${where}: ${summary} (${details.join('; ')}).`;
}

function reasonOf(error: unknown, variable: string): string {
  if (error instanceof ReadOnlyHost) return 'it is read-only, like a standby';
  const { code, path, message } = failureOf(error);
  if (code === 'ENOENT' && path !== undefined && !path.includes('.s.PGSQL.'))
    return `the file ${path} that ${variable} names cannot be read`;
  if (code === 'ENOENT') return 'that folder contains no PostgreSQL socket';
  if (/does not support SSL/i.test(message))
    return 'it does not support TLS; enable TLS in PostgreSQL, or set sslmode=disable';
  if (/requires specifying a CA/.test(message))
    return 'sslmode=verify-ca requires sslrootcert=<file>; or use sslmode=verify-full';
  if (/pg_hba\.conf/.test(message))
    return `it rejects this role from this host (${quoted(message)}); ${hint(message)}`;
  if (/password must be a string|no password supplied/i.test(message))
    return `it requires a password and ${variable} has none`;
  if (/timeout|no answer/i.test(message) && code === '')
    return 'it does not respond; check host, port and firewall';
  if (/Connection terminated unexpectedly/.test(message))
    return 'it closed the connection; check that the port is that of PostgreSQL';
  return byCode[code] ?? quoted(message || code);
}

const hint = (message: string): string =>
  /no encryption|SSL off/i.test(message)
    ? 'add sslmode=require to it, or an entry to pg_hba.conf'
    : 'add an entry to pg_hba.conf';

/** Why a reachable database cannot be set up; undefined if its settings are not the cause. */
export function explainSetUp(error: unknown, variable: string): string | undefined {
  const { code, message } = failureOf(error);
  if (code === '42501') {
    return `The role in ${variable} lacks permissions that Millrace needs (${quoted(message)}): make it the owner of the database, or run \`grant usage, create on schema public to <role>\` as the owner.`;
  }
  if (code === '25006') return readOnly(variable);
  if (code === '3F000') {
    return `The role in ${variable} has no schema to create tables in: create a schema that is in its search_path, such as public.`;
  }
  if (code === '53100')
    return `The disk of the database in ${variable} is full: free some space and start again.`;
  if (code === '57014') {
    return `PostgreSQL ended a statement while Millrace started (${quoted(message)}): the statement_timeout of the role in ${variable} is too short for migrations.`;
  }
  return undefined;
}

export const readOnly = (variable: string): string =>
  `The database in ${variable} is read-only, like a standby: use the address of the primary.`;

interface Failure {
  readonly code: string;
  readonly path: string | undefined;
  readonly message: string;
}

function failureOf(error: unknown): Failure {
  // For a host with several addresses, all of which failed, the first error is enough.
  const first =
    error instanceof AggregateError && error.errors.length > 0 ? (error.errors[0] as unknown) : error;
  if (!(first instanceof Error)) return { code: '', path: undefined, message: String(first) };
  if (first.cause instanceof Error && !('code' in first)) return failureOf(first.cause);
  const { code, path, address } = first as NodeJS.ErrnoException & { address?: string };
  return { code: String(code ?? ''), path: path ?? address, message: first.message };
}

/** A third-party message on one line, without its period. */
const quoted = (message: string): string => message.replace(/\s+/g, ' ').replace(/[.\s]+$/, '');

/** Hosts, ports and name. */
function addressOf(database: Database): string {
  if (typeof database !== 'string')
    return `${database.host}${database.port === undefined ? '' : `:${database.port}`}`;
  const { hosts, url } = readAddress(database);
  return `${nameOfHosts(hosts)}${url.pathname}`;
}
