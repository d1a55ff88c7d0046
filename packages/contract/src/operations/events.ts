import { z } from 'zod';
import { eventStatuses } from '../words.ts';
import { maxJsonEscapes, maxJsonMembers } from '../json.ts';
import { operation } from '../operation.ts';
import { lastMoment, parseDuration, parseInstant } from '../duration.ts';
import { commaList, cursors, date, instant, oneOfList, pageSize } from './shapes.ts';

/** Most characters of an event's id. */
export const maxEventIdCharacters = 255;
/** Largest body of one event, or of a batch of them, in bytes. */
export const eventBodyLimit = 3_145_728;
/** Most events of one batch. */
export const maxEventsAtOnce = 500;

const isStorable = (text: string): boolean => !text.includes('\u0000') && text.isWellFormed();
const words = (most: number) =>
  z.string().min(1).max(most).refine(isStorable, 'must not contain NUL or half a character');

const eventId = words(maxEventIdCharacters).refine(
  (id) => id !== '.' && id !== '..',
  'must not be . or .., which are no parts of an address',
);

/**
 * Milliseconds since 1970 of a date as an event writes it: ISO 8601 (in UTC where it has no offset) or that number. Undefined if it
 * cannot be read, and for days that do not exist.
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

/** What is sent. Members that are not named here are kept and shown, and mean nothing. */
export const eventFields = z.looseObject({
  /** Such as `order.created`: what tasks subscribe to. Without one the event is kept and starts nothing. */
  name: words(255).optional(),
  /** What the runs are given. */
  payload: z.unknown().optional(),
  context: z.unknown().optional(),
  source: words(255).optional(),
  /** When it happened. Default: when it is stored. */
  timestamp: moment.optional(),
  /** Not before then. A time of the past is now. Wins over `deliverAfter`. */
  deliverAt: moment.optional(),
  /** Not before so many seconds from now, or a duration such as `1h30m`. */
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

/** Clients of old put the id into the event and the time beside it: `{ event: { id, name, … }, options: { deliverAt } }`. */
function lifted(body: unknown, context: z.RefinementCtx): unknown {
  if (!isObject(body) || !isObject(body['event'])) return body;
  const { event, options } = body;
  // Every other member is kept; this one would be left out in silence.
  if (Object.hasOwn(event, '__proto__')) {
    const message = 'not a name that a member of an event may have; put it into payload';
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

/** An event and the id that it is known by: sent again under it, it is the same event. */
export const newEvent = z.preprocess(lifted, z.object({ id: eventId, event: eventFields }));
export type NewEvent = z.output<typeof newEvent>;

/** An event as it is stored, with its `timestamp`, and `deliverAt` if it waits or waited. */
const storedEvent = z.looseObject({});

export const sentEvent = z.object({
  id: z.string(),
  event: storedEvent,
  status: z.enum(eventStatuses),
  /** The runs it started. */
  runs: z.array(z.string()),
  /** An event with this id was there before: that one is shown, and nothing was done. */
  isDuplicate: z.boolean(),
  /** Only of a duplicate: what was sent now is not what is stored. The first one stands. */
  isDifferent: z.boolean().optional(),
});
export type SentEvent = z.infer<typeof sentEvent>;

export const sendEvent = operation({
  id: 'sendEvent',
  method: 'POST',
  path: '/api/v1/events',
  tag: 'events',
  summary: 'Store an event once and start a run of each task that is subscribed to it',
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
  summary: 'Send several events; each stands alone, and none is stored unless all are valid',
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
  /** Null for an event without one. */
  name: z.string().nullable(),
  status: z.enum(eventStatuses),
  createdAt: date,
  deliverAt: date.nullable(),
  deliveredAt: date.nullable(),
  canceledAt: date.nullable(),
  /** The event that it is a replay of. */
  replayOf: z.string().nullable(),
  /** Only of one that could not be delivered: why. */
  failure: z.string().optional(),
});

/** A list item. */
export const listedEvent = summary.extend({
  /** How many runs it started. */
  runCount: z.number().int(),
});
export type ListedEvent = z.infer<typeof listedEvent>;

export const shownEvent = summary.extend({
  event: storedEvent,
  /** The runs it started that are still kept. */
  runs: z.array(z.object({ id: z.string(), taskIdentifier: z.string(), status: z.string() })),
});
export type ShownEvent = z.infer<typeof shownEvent>;

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
    /** Wins over `page[after]`. */
    'page[before]': z.string().optional(),
    /** Whole names. */
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
  reply: shownEvent,
  errors: [404],
});

export const replayEvent = operation({
  id: 'replayEvent',
  method: 'POST',
  path: '/api/v1/events/:eventId/replay',
  tag: 'events',
  summary: 'Send an event again, as another one, to what is subscribed to it now',
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
  summary: 'Keep an event that waits for its time from being delivered',
  access: { secretKey: true, action: 'write', on: 'events' },
  params: oneEvent,
  reply: shownEvent,
  errors: [404, 409],
});
