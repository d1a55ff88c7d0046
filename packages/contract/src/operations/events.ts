import { z } from 'zod';
import { eventStatuses } from '../words.ts';
import { maxJsonEscapes, maxJsonMembers } from '../json.ts';
import { operation } from '../operation.ts';
import { lastMoment, parseDuration, parseInstant } from '../duration.ts';
import { commaList, cursors, date, instant, oneOfList, pageSize } from './shapes.ts';

/** Maximum number of characters of an event's id. */
export const maxEventIdCharacters = 255;
/** Maximum body size of one event, or of a batch of them, in bytes. */
export const eventBodyLimit = 3_145_728;
/** Maximum number of events in one batch. */
export const maxEventsAtOnce = 500;

const isStorable = (text: string): boolean => !text.includes('\u0000') && text.isWellFormed();
const words = (max: number) =>
  z.string().min(1).max(max).refine(isStorable, 'must not contain NUL or an unpaired surrogate');

const eventId = words(maxEventIdCharacters).refine(
  (id) => id !== '.' && id !== '..',
  'must not be . or .., which are not allowed in a URL path',
);

/**
 * An event's date in milliseconds since 1970: ISO 8601 (in UTC if it has no offset) or that number. Undefined if it is invalid, and for days
 * that do not exist.
 */
export function eventInstant(value: string | number): number | undefined {
  const at = typeof value === 'number' ? Math.trunc(value) : parseInstant(value)?.getTime();
  return at === undefined || Math.abs(at) > lastMoment ? undefined : at;
}

const moment = z
  .union([z.string(), z.number()])
  .refine(
    (value) => eventInstant(value) !== undefined,
    'not a date; send ISO 8601, such as 2026-01-15T12:00:00Z, or milliseconds since 1970',
  );

const maxWait = 315_576_000;

/** An event as sent. Additional members are stored and shown, but have no effect. */
export const eventFields = z.looseObject({
  /** A name such as `order.created`, to which tasks subscribe. An event without a name is stored and triggers nothing. */
  name: words(255).optional(),
  /** The payload of the runs. */
  payload: z.unknown().optional(),
  context: z.unknown().optional(),
  source: words(255).optional(),
  /** When it occurred. Default: when it is stored. */
  timestamp: moment.optional(),
  /** Earliest delivery time. A time in the past means now. Takes precedence over `deliverAfter`. */
  deliverAt: moment.optional(),
  /** Delay before delivery, in seconds or as a duration such as `1h30m`. */
  deliverAfter: z
    .union([z.number().min(0).max(maxWait), z.string()])
    .refine(
      (value) => typeof value === 'number' || typeof parseDuration(value) === 'number',
      'not a duration; send seconds, or numbers with units such as 90s or 1h30m',
    )
    .optional(),
});
export type EventFields = z.output<typeof eventFields>;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Old clients put the id into the event and the time next to it: `{ event: { id, name, … }, options: { deliverAt } }`. */
function lifted(body: unknown, context: z.RefinementCtx): unknown {
  if (!isObject(body) || !isObject(body['event'])) return body;
  const { event, options } = body;
  // All other members are stored; this one would be silently dropped.
  if (Object.hasOwn(event, '__proto__')) {
    const message = 'not a valid event property; put it into payload';
    context.addIssue({ code: 'custom', message, path: ['event', '__proto__'] });
  }
  const times = isObject(options)
    ? Object.fromEntries(
        ['deliverAt', 'deliverAfter'].flatMap((name) => {
          const value = options[name];
          return value === undefined || value === null ? [] : [[name, value]];
        }),
      )
    : {};
  return { id: body['id'] ?? event['id'], event: { ...times, ...event } };
}

/** An event and its id: an event resent with the same id is a duplicate. */
export const newEvent = z.preprocess(lifted, z.object({ id: eventId, event: eventFields }));
export type NewEvent = z.output<typeof newEvent>;

/** A stored event, with its `timestamp`, and `deliverAt` if it was scheduled. */
const storedEvent = z.looseObject({});

export const sentEvent = z.object({
  id: z.string(),
  event: storedEvent,
  status: z.enum(eventStatuses),
  /** The runs that it triggered. */
  runs: z.array(z.string()),
  /** Whether an event with this id already existed: the existing one is returned, and nothing was changed. */
  isDuplicate: z.boolean(),
  /** Only for a duplicate: whether the new content differs from the stored content. The first event is kept. */
  isDifferent: z.boolean().optional(),
});
export type SentEvent = z.infer<typeof sentEvent>;

export const sendEvent = operation({
  id: 'sendEvent',
  method: 'POST',
  path: '/api/v1/events',
  tag: 'events',
  summary: 'Store an event once and trigger a run of each subscribed task',
  access: { secretKey: true, publicToken: true, action: 'write', on: 'events' },
  body: newEvent,
  bodyLimit: eventBodyLimit,
  maxMembers: maxJsonMembers,
  reply: sentEvent,
  errors: [413],
});

export const sendEvents = operation({
  id: 'sendEvents',
  method: 'POST',
  path: '/api/v1/event-batches',
  tag: 'events',
  summary: 'Send several independent events; none is stored unless all are valid',
  access: { secretKey: true, publicToken: true, action: 'write', on: 'events' },
  body: z.object({ events: z.array(newEvent).min(1).max(maxEventsAtOnce) }),
  bodyLimit: eventBodyLimit,
  maxMembers: 4 * maxJsonMembers,
  maxEscapes: maxJsonEscapes,
  /** In the order of the request. */
  reply: z.object({ events: z.array(sentEvent) }),
  errors: [413],
});

const summary = z.object({
  id: z.string(),
  /** Null for an event without a name. */
  name: z.string().nullable(),
  status: z.enum(eventStatuses),
  createdAt: date,
  deliverAt: date.nullable(),
  deliveredAt: date.nullable(),
  canceledAt: date.nullable(),
  /** The event that it is a replay of. */
  replayOf: z.string().nullable(),
  /** Only for an event that could not be delivered: the reason. */
  failure: z.string().optional(),
});

/** A list item. */
export const listedEvent = summary.extend({
  /** Number of runs that it triggered. */
  runCount: z.number().int(),
});
export type ListedEvent = z.infer<typeof listedEvent>;

export const eventResponse = summary.extend({
  event: storedEvent,
  /** The runs that it triggered, if they are still stored. */
  runs: z.array(z.object({ id: z.string(), taskIdentifier: z.string(), status: z.string() })),
});
export type EventResponse = z.infer<typeof eventResponse>;

export const listEvents = operation({
  id: 'listEvents',
  method: 'GET',
  path: '/api/v1/events',
  tag: 'events',
  summary: 'List events, newest first',
  access: { secretKey: true, publicToken: true, action: 'read', on: 'events' },
  query: z.object({
    'page[size]': pageSize(25),
    /** The id of an event. */
    'page[after]': z.string().optional(),
    /** Takes precedence over `page[after]`. */
    'page[before]': z.string().optional(),
    /** Exact names. */
    'filter[name]': commaList.optional(),
    'filter[status]': oneOfList(eventStatuses).optional(),
    'filter[from]': instant.optional(),
    'filter[to]': instant.optional(),
  }),
  reply: z.object({ data: z.array(listedEvent), pagination: cursors }),
});

const oneEvent = z.object({ eventId: z.string().min(1).max(maxEventIdCharacters) });

export const retrieveEvent = operation({
  id: 'retrieveEvent',
  method: 'GET',
  path: '/api/v1/events/:eventId',
  tag: 'events',
  summary: 'Retrieve an event with its runs',
  access: { secretKey: true, publicToken: true, action: 'read', on: 'events' },
  params: oneEvent,
  reply: eventResponse,
  errors: [404],
});

export const replayEvent = operation({
  id: 'replayEvent',
  method: 'POST',
  path: '/api/v1/events/:eventId/replay',
  tag: 'events',
  summary: 'Send an event again, as a new event, to the current subscriptions',
  access: { secretKey: true, action: 'write', on: 'events' },
  params: oneEvent,
  body: z.object({
    /** The id of the new event, so that the request can be repeated. Default: a random one. */
    id: eventId.optional(),
  }),
  bodyOptional: true,
  reply: sentEvent,
  errors: [404],
});

export const cancelEvent = operation({
  id: 'cancelEvent',
  method: 'POST',
  path: '/api/v1/events/:eventId/cancel',
  tag: 'events',
  summary: 'Cancel the delivery of a scheduled event',
  access: { secretKey: true, action: 'write', on: 'events' },
  params: oneEvent,
  reply: eventResponse,
  errors: [404, 409],
});
