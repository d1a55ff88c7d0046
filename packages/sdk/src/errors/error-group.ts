import type { ErrorGroup as WireGroup, ErrorGroupDetail as WireDetail } from '@millrace/contract';

const dateFields = ['firstSeen', 'lastSeen', 'resolvedAt', 'ignoredAt', 'ignoredUntil'] as const;
type DateField = (typeof dateFields)[number];

type Dated<T> = { readonly [K in keyof T]: K extends DateField ? Date | Extract<T[K], null> : T[K] };

/** Failed runs of one task with the same error, as returned in lists. `count` covers the requested range. */
export type ErrorGroup = Dated<WireGroup>;

/** An error group with its state. `count` covers all time. */
export type ErrorGroupDetail = Dated<WireDetail>;

/** A group from the API, with its times as dates. */
export function fromWire<T extends WireGroup | WireDetail>(wire: T): Dated<T> {
  const copy: Record<string, unknown> = { ...wire };
  for (const field of dateFields) if (typeof copy[field] === 'string') copy[field] = new Date(copy[field]);
  return copy as Dated<T>;
}

/** `error_…`, or the group itself. */
export type ErrorReference = string | { readonly id: string };

export function errorId(error: ErrorReference): string {
  const id: unknown = typeof error === 'string' ? error : (error as { id?: unknown } | undefined)?.id;
  if (typeof id === 'string' && id !== '') return id;
  throw new TypeError('Pass the id of the error group (error_…) or the group itself.');
}
