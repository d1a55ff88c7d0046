import { createHash, randomInt } from 'node:crypto';
import type { Cursor } from './feed.ts';

/** The values that a client of the shape protocol sends back from the last response. */
export interface Sent {
  readonly offset: string;
  readonly handle?: string | undefined;
  readonly shape_id?: string | undefined;
  readonly cursor?: string | undefined;
}

/** The position of a client. */
export type Position =
  /** It has read the current runs up to this id. `at` is the time at which it began. */
  | { readonly kind: 'present'; readonly after: string; readonly at: number | undefined }
  /** It has the current runs and requests the changes since. */
  | { readonly kind: 'changes'; readonly cursor: Cursor }
  /** The offset is invalid. */
  | { readonly kind: 'unknown' };

export function readPosition({ offset, cursor }: Sent): Position {
  if (offset === '-1') return { kind: 'present', after: '', at: undefined };
  const paging = /^(\d{1,15})_(run_[0-9a-z]{1,64})$/.exec(offset);
  if (paging) return { kind: 'present', after: paging[2] ?? '', at: Number(paging[1]) };
  const changes = /^(\d{1,15})_(\d{1,20})$/.exec(offset);
  if (!changes) return { kind: 'unknown' };
  return {
    kind: 'changes',
    cursor: `${changes[1]}.${changes[2]}.${/^\d{1,15}$/.test(cursor ?? '') ? cursor : '0'}`,
  };
}

/** The two headers for a cursor; `readPosition` reads them. */
export function cursorHeaders(from: Cursor): { readonly offset: string; readonly cursor: string } {
  const [at = '0', seq = '0', process = '0'] = from.split('.');
  return { offset: `${at}_${seq}`, cursor: process };
}

/** The offset of a client that has the current runs up to this id. */
export const pagingOffset = (at: number, id: string): string => `${at}_${id}`;

const nameOf = (shape: string): string => createHash('sha256').update(shape).digest('hex').slice(0, 16);

/**
 * A handle identifies the runs and columns that a client follows, and the earliest creation time of the runs. It is valid on every server
 * process. A new handle never equals an old one; otherwise clients would treat the response as stale.
 */
export const newHandle = (shape: string, from: number): string =>
  `${from}-${nameOf(shape)}-${randomInt(1, 2 ** 40)}`;

/** The earliest creation time in a handle, if it belongs to this shape. */
export function readHandle(handle: string, shape: string): number | undefined {
  const match = /^(\d{1,15})-([0-9a-f]{16})-\d{1,15}$/.exec(handle);
  return match && match[2] === nameOf(shape) ? Number(match[1]) : undefined;
}
