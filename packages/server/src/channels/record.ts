import { badRequest, Problem } from '../problem.ts';

export type Header = readonly [name: string, value: string];

/** A record to append. */
export interface NewRecord {
  readonly body: string;
  /** Names may repeat. A record with headers and an empty body is a control record. */
  readonly headers?: readonly Header[] | undefined;
  /** The id included in a list of records. */
  readonly id?: string | undefined;
}

export interface ChannelRecord extends NewRecord {
  readonly seq: number;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** The largest record, body and headers together, in bytes of UTF-8. The HTTP API has lower limits for clients. */
export const maxRecordBytes = 8_388_608;

/** A record in the form stored in a segment. */
export interface EncodedRecord {
  readonly text: string;
  readonly bytes: number;
}

/** Encodes a record for storage. Rejects texts that PostgreSQL cannot store unchanged. */
export function encodeRecord({ body, headers, id }: NewRecord): EncodedRecord {
  let bytes = sizeOf(body, 'body');
  for (const [name, value] of headers ?? []) bytes += sizeOf(name, 'header') + sizeOf(value, 'header');
  if (bytes > maxRecordBytes)
    throw new Problem('too_large', `A record has at most ${maxRecordBytes} bytes; this one has ${bytes}.`);
  const text =
    headers && headers.length > 0
      ? JSON.stringify([body, id ?? null, headers])
      : JSON.stringify(id === undefined ? [body] : [body, id]);
  return { text, bytes };
}

function sizeOf(text: string, where: string): number {
  if (text.includes('\u0000'))
    throw badRequest(`The ${where} of a record contains a character that cannot be stored (U+0000).`);
  if (!text.isWellFormed()) throw badRequest(`The ${where} of a record contains an unpaired surrogate.`);
  return Buffer.byteLength(text);
}

type Stored = readonly [body: string, id?: string | null, headers?: readonly Header[] | null];

export interface SegmentRow {
  readonly seq: string;
  readonly at: Date;
  readonly records: string;
}

/** The records of a segment starting at number `from`. */
export function decodeSegment({ seq, at, records }: SegmentRow, from: number): ChannelRecord[] {
  const first = Number(seq);
  const time = at.getTime();
  const decoded = (JSON.parse(records) as Stored[]).map(([body, id, headers], index): ChannelRecord => ({
    seq: first + index,
    at: time,
    body,
    ...(headers && { headers }),
    ...(id != null && { id }),
  }));
  return from > first ? decoded.slice(from - first) : decoded;
}
