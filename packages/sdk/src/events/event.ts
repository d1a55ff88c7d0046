import type {
  ListedEvent as WireListed,
  SentEvent as WireSent,
  EventResponse as WireMessage,
} from '@millrace/contract';

/** An event to send. Plain JSON: dates become strings. Additional members are preserved. */
export interface NewEvent {
  /** 1 to 255 characters, unique in an environment: an event resent with the same id is a duplicate. Default: a random UUID. */
  id?: string;
  /** A name such as `order.created`, at most 255 characters. Tasks subscribe to names. */
  name: string;
  /** The payload of the runs. */
  payload?: unknown;
  /** Additional data, available as `ctx.event.context` in the runs. */
  context?: unknown;
  /** The source of the event. */
  source?: string;
  /** When the event occurred. Default: now. */
  timestamp?: Date | string;
  /** Earliest delivery time. A time in the past means now. Takes precedence over `deliverAfter`. */
  deliverAt?: Date | string;
  /** Delay before delivery, in seconds or as a duration such as `1h30m`. */
  deliverAfter?: number | string;
  [member: string]: unknown;
}

export type SentEvent = WireSent;

const dateFields = ['createdAt', 'deliverAt', 'deliveredAt', 'canceledAt'] as const;
type DateField = (typeof dateFields)[number];
type Dated<T> = { readonly [K in keyof T]: K extends DateField ? Date | Extract<T[K], null> : T[K] };

/** An event as returned in lists. */
export type ListedEvent = Dated<WireListed>;

/** An event with its payload and the runs that it triggered. */
export type EventDetail = Dated<WireMessage>;

/** An event from the API, with its times as dates. */
export function fromWire<T extends WireListed | WireMessage>(wire: T): Dated<T> {
  const copy: Record<string, unknown> = { ...wire };
  for (const field of dateFields) if (typeof copy[field] === 'string') copy[field] = new Date(copy[field]);
  return copy as Dated<T>;
}

/** An event by its id, or the event itself. */
export type EventReference = string | { readonly id: string };

export function eventId(event: EventReference): string {
  const id: unknown = typeof event === 'string' ? event : (event as { id?: unknown } | undefined)?.id;
  if (typeof id === 'string' && id !== '') return id;
  throw new TypeError('Pass the id of the event or the event itself.');
}
