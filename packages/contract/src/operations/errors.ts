import { z } from 'zod';
import { operation } from '../operation.ts';
import { errorOwnership, listedOwnership, ownershipChange } from './ownership.ts';
import { errorSorts, errorStatuses } from '../words.ts';
import { commaList, cursors, date, instant, oneOfList, pageSize, period } from './shapes.ts';

/** Maximum number of characters shown of a sample's message. */
export const maxSampleMessage = 500;

/**
 * The message of one of its errors as thrown, truncated to 500 characters. It may contain data of runs, so only callers who may read all runs
 * of the environment receive it.
 */
const sampleMessage = z.string().optional();

/** A list item. */
export const errorGroup = z.object({
  id: z.string(),
  fingerprint: z.string(),
  taskIdentifier: z.string(),
  errorType: z.string(),
  /** Normalized: the common part of its errors. */
  errorMessage: z.string(),
  sampleMessage,
  status: z.enum(errorStatuses),
  /** Occurrences within the requested range, or of all time without a range. */
  count: z.number().int(),
  firstSeen: date,
  lastSeen: date,
  resolvedAt: date.nullable(),
  ignoredUntil: date.nullable(),
  ownership: listedOwnership,
});
export type ErrorGroup = z.infer<typeof errorGroup>;

export const errorGroupDetail = z.object({
  id: z.string(),
  fingerprint: z.string(),
  taskIdentifier: z.string(),
  errorType: z.string(),
  /** Normalized: the common part of its errors. */
  errorMessage: z.string(),
  sampleMessage,
  count: z.number().int(),
  firstSeen: date,
  lastSeen: date,
  /** Newest first, at most five. */
  affectedVersions: z.array(z.string()),
  status: z.enum(errorStatuses),
  resolvedAt: date.nullable(),
  resolvedInVersion: z.string().nullable(),
  resolvedBy: z.string().nullable(),
  ignoredAt: date.nullable(),
  ignoredUntil: date.nullable(),
  ignoredReason: z.string().nullable(),
  ignoredByUserId: z.string().nullable(),
  ignoredUntilOccurrenceRate: z.number().nullable(),
  ignoredUntilTotalOccurrences: z.number().int().nullable(),
  ownership: errorOwnership,
});
export type ErrorGroupDetail = z.infer<typeof errorGroupDetail>;

/** How often a group occurred in each interval, oldest first; the last interval is still in progress. */
export const errorTrend = z.object({
  /** Milliseconds. */
  intervalMs: z.number().int(),
  points: z.array(z.object({ from: date, count: z.number().int() })),
});
export type ErrorTrend = z.infer<typeof errorTrend>;

/** A string that can be stored. */
const words = (max: number) =>
  z
    .string()
    .max(max)
    .refine((value) => !value.includes('\u0000'), 'must not contain a NUL character');

export const listErrors = operation({
  id: 'listErrors',
  method: 'GET',
  path: '/api/v1/errors',
  tag: 'errors',
  summary: 'List error groups, last seen first unless sorted otherwise',
  access: { secretKey: true, publicToken: true, action: 'read', on: 'errors' },
  query: z.object({
    'page[size]': pageSize(25),
    'page[after]': z.string().optional(),
    /** Takes precedence over `page[after]`. */
    'page[before]': z.string().optional(),
    'filter[taskIdentifier]': commaList.optional(),
    'filter[version]': commaList.optional(),
    'filter[status]': oneOfList(errorStatuses).optional(),
    'filter[search]': z.string().max(1_000).optional(),
    /** Owners, in any case: names, and email addresses or ids of members. Matches the responsible owner of each group. */
    'filter[owner]': commaList.optional(),
    'filter[from]': instant.optional(),
    'filter[to]': instant.optional(),
    /** Takes precedence over `filter[from]` and `filter[to]`. */
    'filter[period]': period.optional(),
    /** `count` is the number of occurrences within the range. */
    sort: z.enum(errorSorts).default('lastSeen'),
    /** Also return how often each group occurred over this period, in intervals up to now, such as `24h`. */
    trend: period.optional(),
    /** Also return the fingerprints of each group. */
    fingerprints: z.enum(['true', 'false']).optional(),
  }),
  reply: z.object({
    data: z.array(
      errorGroup.extend({
        trend: errorTrend.optional(),
        /** Its own first. There is only one, unless groups were merged. */
        fingerprints: z.array(z.string()).optional(),
      }),
    ),
    pagination: cursors,
  }),
});

const errorId = z.object({ errorId: z.string().min(1) });

export const retrieveError = operation({
  id: 'retrieveError',
  method: 'GET',
  path: '/api/v1/errors/:errorId',
  tag: 'errors',
  summary: 'Retrieve an error group',
  access: { secretKey: true, publicToken: true, action: 'read', on: 'errors' },
  params: errorId,
  query: z.object({
    /** Also return how often it occurred over this period, in intervals up to now, such as `24h`. */
    trend: period.optional(),
  }),
  reply: errorGroupDetail.extend({ trend: errorTrend.optional() }),
  errors: [404],
});

export const resolveError = operation({
  id: 'resolveError',
  method: 'POST',
  path: '/api/v1/errors/:errorId/resolve',
  tag: 'errors',
  summary: 'Mark an error group as resolved',
  access: { secretKey: true, publicToken: true, action: 'write', on: 'errors' },
  params: errorId,
  body: z.object({ resolvedInVersion: words(128).min(1).optional() }),
  reply: errorGroupDetail,
  errors: [404],
});

/** Maximum `duration` of an ignore: ten years. */
const maxIgnoreMs = 315_576_000_000;

export const ignoreError = operation({
  id: 'ignoreError',
  method: 'POST',
  path: '/api/v1/errors/:errorId/ignore',
  tag: 'errors',
  summary: 'Ignore an error group permanently, or until one of the given limits is reached',
  access: { secretKey: true, publicToken: true, action: 'write', on: 'errors' },
  params: errorId,
  body: z.object({
    /** Milliseconds from now. */
    duration: z.number().int().positive().max(maxIgnoreMs).optional(),
    /** Occurrences per minute, in a sliding window; the ignore ends when the rate is exceeded. */
    occurrenceRate: z.number().positive().max(1_000_000).optional(),
    /** Number of further occurrences, counted from now. */
    totalOccurrences: z.number().int().positive().max(Number.MAX_SAFE_INTEGER).optional(),
    reason: words(1_000).optional(),
  }),
  reply: errorGroupDetail,
  errors: [404],
});

export const unresolveError = operation({
  id: 'unresolveError',
  method: 'POST',
  path: '/api/v1/errors/:errorId/unresolve',
  tag: 'errors',
  summary: 'Mark a resolved or ignored error group as unresolved',
  access: { secretKey: true, publicToken: true, action: 'write', on: 'errors' },
  params: errorId,
  reply: errorGroupDetail,
  errors: [404],
});

/** A fingerprint of a group. There is only one, unless groups were merged. */
export const errorFingerprint = z.object({
  fingerprint: z.string(),
  errorType: z.string(),
  errorMessage: z.string(),
  /** Covers all time. */
  count: z.number().int(),
  firstSeen: date,
  lastSeen: date,
});
export type ErrorFingerprint = z.infer<typeof errorFingerprint>;

/** Maximum number of fingerprints in a group. */
export const maxFingerprints = 100;

export const listErrorFingerprints = operation({
  id: 'listErrorFingerprints',
  method: 'GET',
  path: '/api/v1/errors/:errorId/fingerprints',
  tag: 'errors',
  summary: 'List the fingerprints of a group, its own first',
  access: { secretKey: true, publicToken: true, action: 'read', on: 'errors' },
  params: errorId,
  reply: z.object({ data: z.array(errorFingerprint) }),
  errors: [404],
});

/**
 * The changes of a group. `regressed`: it occurred again after it was resolved. `ignoreEnded`: a limit of its ignore was reached. `merged`: it
 * became part of another group, or others became part of it. `split`: fingerprints left it. `assigned`, `noted`, `linked`: its owner, its note or
 * its ticket changed, to `after`.
 */
export const errorActs = [
  'resolved',
  'ignored',
  'unresolved',
  'regressed',
  'ignoreEnded',
  'merged',
  'split',
  'assigned',
  'noted',
  'linked',
] as const;

export const errorChange = z.object({
  id: z.string(),
  at: date,
  act: z.enum(errorActs),
  /** Missing for automatic changes, and for changes made with a secret key. */
  userId: z.string().optional(),
  /** The key or token that was used; missing for automatic changes. */
  credentialId: z.string().optional(),
  /** Its previous state. */
  before: z.object({
    status: z.enum(errorStatuses),
    resolvedAt: date.optional(),
    resolvedInVersion: z.string().optional(),
    resolvedBy: z.string().optional(),
    ignoredAt: date.optional(),
    ignoredUntil: date.optional(),
    ignoredReason: z.string().optional(),
    ...ownershipChange.shape,
  }),
  /** The new values after `assigned`, `noted` and `linked`. A missing value was removed. */
  after: ownershipChange.optional(),
});
export type ErrorChange = z.infer<typeof errorChange>;

export const listErrorHistory = operation({
  id: 'listErrorHistory',
  method: 'GET',
  path: '/api/v1/errors/:errorId/history',
  tag: 'errors',
  summary: 'List the state changes of an error group, newest first',
  access: { secretKey: true, publicToken: true, action: 'read', on: 'errors' },
  params: errorId,
  query: z.object({
    'page[size]': pageSize(25),
    /** The id of a change: the changes before it. */
    'page[after]': z
      .string()
      .regex(/^\d{1,18}$/, 'not the id of a change')
      .optional(),
  }),
  reply: z.object({ data: z.array(errorChange), pagination: cursors }),
  errors: [404],
});

export const mergeErrors = operation({
  id: 'mergeErrors',
  method: 'POST',
  path: '/api/v1/errors/:errorId/merge',
  tag: 'errors',
  summary: 'Merge other error groups of the same task into this one, including their future errors',
  access: { secretKey: true, action: 'write', on: 'errors' },
  params: errorId,
  /** Ids of groups; afterwards they refer to this one. */
  body: z.object({ errors: z.array(z.string().min(1).max(256)).min(1).max(maxFingerprints) }),
  reply: errorGroupDetail,
  errors: [404, 422],
});

export const splitError = operation({
  id: 'splitError',
  method: 'POST',
  path: '/api/v1/errors/:errorId/split',
  tag: 'errors',
  summary: 'Split fingerprints, with all their errors, into a separate group, which is returned',
  access: { secretKey: true, action: 'write', on: 'errors' },
  params: errorId,
  body: z.object({ fingerprints: z.array(words(256).min(1)).min(1).max(maxFingerprints) }),
  reply: errorGroupDetail,
  errors: [404, 422],
});
