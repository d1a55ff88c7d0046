import type {
  ListedEvent as WireListed,
  SentEvent as WireSent,
  ShownEvent as WireShown,
} from '@millrace/contract';

/** An event to send. Plain JSON: dates become texts. Members beside these are kept. */
export interface NewEvent {
  /** 1 to 255 characters. An environment has one event with it: sent again, it is the same one. Default: a random UUID. */
  id?: string;
  /** Such as `order.created`; at most 255 characters. What tasks subscribe to. */
  name: string;
  /** What the runs are given. */
  payload?: unknown;
  /** Additional data; `ctx.event.context` of the runs. */
  context?: unknown;
  /** Where it comes from. */
  source?: string;
  /** When it happened. Default: now. */
  timestamp?: Date | string;
  /** Not before then. A time of the past is now. Wins over `deliverAfter`. */
  deliverAt?: Date | string;
  /** Not before so many seconds from now, or a duration such as `1h30m`. */
  deliverAfter?: number | string;
  [member: string]: unknown;
}

/** The result of sending an event. */
export type SentEvent = WireSent;

const dateFields = ['createdAt', 'deliverAt', 'deliveredAt', 'canceledAt'] as const;
type DateField = (typeof dateFields)[number];
type Dated<T> = { readonly [K in keyof T]: K extends DateField ? Date | Extract<T[K], null> : T[K] };

/** An event as a list shows it. */
export type ListedEvent = Dated<WireListed>;

/** An event with what was sent and the runs that it started. */
export type EventDetail = Dated<WireShown>;

/** An event as the API sends it, with dates for its times. */
export function fromWire<T extends WireListed | WireShown>(wire: T): Dated<T> {
  const copy: Record<string, unknown> = { ...wire };
  for (const field of dateFields) if (typeof copy[field] === 'string') copy[field] = new Date(copy[field]);
  return copy as Dated<T>;
}

/** An event by its id, or itself. */
export type EventReference = string | { readonly id: string };

export function eventId(event: EventReference): string {
  const id: unknown = typeof event === 'string' ? event : (event as { id?: unknown } | undefined)?.id;
  if (typeof id === 'string' && id !== '') return id;
  throw new TypeError('An event is named by its id or by the event itself.');
}
