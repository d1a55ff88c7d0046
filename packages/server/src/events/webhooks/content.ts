/** The body and the headers of a request, as runs and clients receive them. */
import { maxJsonLevels } from '@millrace/contract';
import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import { tryParse } from '../../json/foreign.ts';

/** A body as text. */
export interface RawBody {
  readonly rawBody: string;
  /** Whether the body is not UTF-8. */
  readonly isBase64Encoded: boolean;
}

export function rawBodyOf(body: Buffer): RawBody {
  const isBase64Encoded = !isUtf8(body);
  return { rawBody: body.toString(isBase64Encoded ? 'base64' : 'utf8'), isBase64Encoded };
}

/** The levels of a payload around its body. */
const jsonLimits = { maxDepth: maxJsonLevels - 2 };

/** The value of a body; undefined if it is not JSON, or has more levels or members than a payload may have. */
export const jsonOf = (body: Buffer): unknown =>
  isUtf8(body) ? tryParse(body.toString('utf8'), jsonLimits) : undefined;

/**
 * The body as the handler of a webhook receives it: the value of JSON, the fields of a form, otherwise the text. Null for a body that is not
 * UTF-8.
 */
export function parsedBody(contentType: string | undefined, body: Buffer, json: () => unknown): unknown {
  const type = contentType?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (!isUtf8(body)) return null;
  const text = body.toString('utf8');
  if (type === 'application/x-www-form-urlencoded') return formOf(text);
  const value = type === 'application/json' || type.endsWith('+json') ? json() : undefined;
  return value === undefined ? text : value;
}

/** A repeated field is an array. */
function formOf(text: string): Record<string, string | string[]> {
  const fields = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(text)) {
    const values = fields.get(name);
    if (values) values.push(value);
    else fields.set(name, [value]);
  }
  return Object.fromEntries(
    [...fields].map(([name, values]) => [name, values.length === 1 ? (values[0] as string) : values]),
  );
}

/** Headers of the connection, and credentials. */
const dropped: ReadonlySet<string> = new Set([
  'authorization',
  'connection',
  'content-length',
  'cookie',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** The headers that are stored, with names in lower case. */
export function storedHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const stored: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || dropped.has(name) || name === '__proto__') continue;
    stored[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return stored;
}
