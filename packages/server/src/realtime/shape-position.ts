import { createHash, randomInt } from 'node:crypto';
import type { Place } from './feed.ts';

/** What a client of the shape protocol sends back of the last answer. */
export interface Sent {
  readonly offset: string;
  readonly handle?: string | undefined;
  readonly shape_id?: string | undefined;
  readonly cursor?: string | undefined;
}

/** Where a client is. */
export type Position =
  /** It has nothing yet, or a part of the present: what is behind this id is next. `at` is when it began. */
  | { readonly kind: 'present'; readonly after: string; readonly at: number | undefined }
  /** It has the present and wants what changed since. */
  | { readonly kind: 'changes'; readonly place: Place }
  /** Not one that was given here. */
  | { readonly kind: 'unknown' };

export function readPosition({ offset, cursor }: Sent): Position {
  if (offset === '-1') return { kind: 'present', after: '', at: undefined };
  const paging = /^(\d{1,15})_(run_[0-9a-z]{1,64})$/.exec(offset);
  if (paging) return { kind: 'present', after: paging[2] ?? '', at: Number(paging[1]) };
  const changes = /^(\d{1,15})_(\d{1,20})$/.exec(offset);
  if (!changes) return { kind: 'unknown' };
  return {
    kind: 'changes',
    place: `${changes[1]}.${changes[2]}.${/^\d{1,15}$/.test(cursor ?? '') ? cursor : '0'}`,
  };
}

/** The two headers that stand for a place; `readPosition` reads them. */
export function placeHeaders(place: Place): { readonly offset: string; readonly cursor: string } {
  const [at = '0', seq = '0', process = '0'] = place.split('.');
  return { offset: `${at}_${seq}`, cursor: process };
}

/** The offset of a client that has the present up to this id. */
export const pagingOffset = (at: number, id: string): string => `${at}_${id}`;

const nameOf = (shape: string): string => createHash('sha256').update(shape).digest('hex').slice(0, 16);

/**
 * A handle says which runs and columns a client follows, and since when the runs were created. It means the same on every server
 * process. One that is given anew is never an old one, or clients would take the answer for a stale one.
 */
export const newHandle = (shape: string, from: number): string =>
  `${from}-${nameOf(shape)}-${randomInt(1, 2 ** 40)}`;

/** Since when, if the handle is of this shape. */
export function readHandle(handle: string, shape: string): number | undefined {
  const match = /^(\d{1,15})-([0-9a-f]{16})-\d{1,15}$/.exec(handle);
  return match && match[2] === nameOf(shape) ? Number(match[1]) : undefined;
}
