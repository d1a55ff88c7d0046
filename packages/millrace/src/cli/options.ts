import { isIPv6 } from 'node:net';
import { environmentKind, parseInstant, parseTimeSpan, type EnvironmentKind } from '@millrace/contract/plain';
import { InvalidArgumentError } from 'commander';

export function port(text: string): number {
  const value = Number(text);
  if (!/^\d{1,5}$/.test(text) || value > 65_535) {
    throw new InvalidArgumentError('Must be a port from 0 (any free one) to 65535.');
  }
  return value;
}

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** `9464`, `127.0.0.1:9464`, `[::1]:9464`. Without a host: every address of this machine. */
export function listenAddress(text: string): ListenAddress {
  const [, inBrackets, name, digits = ''] = /^(?:(?:\[([^\]]*)\]|([^:[\]/\s]+)):)?(\d+)$/.exec(text) ?? [];
  if (digits === '' || (inBrackets !== undefined && !isIPv6(inBrackets))) {
    throw new InvalidArgumentError(
      'Must be a port, or an address and a port, such as 9464 or 127.0.0.1:9464.',
    );
  }
  return { host: inBrackets ?? name ?? '0.0.0.0', port: port(digits) };
}

const maxGraceMs = 3_600_000;

/** Milliseconds of a span such as `25s`. */
export function grace(text: string): number {
  const ms = parseTimeSpan(text);
  if (typeof ms === 'number' && ms >= 0 && ms <= maxGraceMs) return ms;
  throw new InvalidArgumentError('Must be a duration from 0s to 1h, such as 25s.');
}

/** Milliseconds of an interval such as `1m`. */
export function interval(text: string): number {
  const ms = parseTimeSpan(text);
  if (typeof ms === 'number' && ms >= 1_000 && ms <= 86_400_000) return ms;
  throw new InvalidArgumentError('Must be a duration from 1s to 24h, such as 1m.');
}

/** Bytes of a size such as `500MiB` or `2GiB`. */
export function bytes(text: string): number {
  const [, digits = '', unit = ''] = /^(\d{1,9})(MiB|GiB)$/.exec(text) ?? [];
  if (digits === '' || Number(digits) === 0)
    throw new InvalidArgumentError('Must be a size in MiB or GiB, such as 500MiB or 2GiB.');
  return Number(digits) * 1024 ** (unit === 'GiB' ? 3 : 2);
}

/** A label of a machine, as required by tasks. */
export function label(text: string): string {
  if (/^[^\s,]{1,64}$/.test(text)) return text;
  throw new InvalidArgumentError('Must be 1 to 64 characters without spaces and commas, such as ffmpeg.');
}

export function positiveInteger(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('Must be a whole number above 0.');
  return Number(text);
}

/** Percentage of new runs. A canary cannot have all of them. */
export function percentage(text: string): number {
  if (!/^[1-9]\d?$/.test(text))
    throw new InvalidArgumentError('Must be a whole number from 1 to 99. Omit it for all runs.');
  return Number(text);
}

export function positiveNumber(text: string): number {
  const value = Number(text);
  if (/^\d{1,9}(\.\d{1,3})?$/.test(text) && value > 0) return value;
  throw new InvalidArgumentError('Must be a number above 0, such as 10 or 2.5.');
}

export interface SmtpAddress {
  readonly host: string;
  readonly port: number;
  readonly security: 'tls' | 'starttls' | 'none';
  readonly user?: string;
}

/** `smtps://user@host:465` for TLS, `smtp://user@host:587` for STARTTLS, `smtp+insecure://host:25` for neither. */
export function smtpAddress(text: string): SmtpAddress {
  const securities = { 'smtps:': 'tls', 'smtp:': 'starttls', 'smtp+insecure:': 'none' } as const;
  const ports = { tls: 465, starttls: 587, none: 25 } as const;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const security = url && securities[url.protocol as keyof typeof securities];
  if (!url || !security || url.hostname === '' || !/^\/?$/.test(url.pathname) || url.password !== '')
    throw new InvalidArgumentError(
      'Must be a mail server such as smtps://user@smtp.example.com:465, without a password, which is read from stdin.',
    );
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? ports[security] : Number(url.port),
    security,
    ...(url.username !== '' && { user: decodeURIComponent(url.username) }),
  };
}

export function wholeNumber(text: string): number {
  return text === '0' ? 0 : positiveInteger(text);
}

export function environment(text: string): EnvironmentKind {
  const kind = environmentKind(text);
  if (kind === undefined) throw new InvalidArgumentError('Must be dev, stg, prod or preview.');
  return kind;
}

export function json(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new InvalidArgumentError(`Must be JSON such as '{"name":"Ada"}' (${(error as Error).message}).`);
  }
}

export function address(text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text.replace(/\/+$/, '');
  throw new InvalidArgumentError('Must be an http or https address, such as http://127.0.0.1:4400.');
}

export function instant(text: string): Date {
  const at = /^\d{4}-\d\d-\d\d(T.*(Z|[+-]\d\d:?\d\d))?$/.test(text) ? parseInstant(text) : undefined;
  if (at !== undefined) return at;
  throw new InvalidArgumentError(
    'Must be a valid date, or a time with Z or an offset, such as 2026-01-15T12:00:00Z.',
  );
}
