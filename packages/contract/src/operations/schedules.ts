import { z } from 'zod';
import { operation } from '../operation.ts';
import { runStatuses } from '../status.ts';
import { overlapRules } from '../words.ts';
import { date, instant, pageSize } from './shapes.ts';

export const scheduleTypes = ['IMPERATIVE', 'DECLARATIVE'] as const;
export type ScheduleType = (typeof scheduleTypes)[number];

/** How to handle ticks that no server was running to fire: `skip`, `once` or `all:<time>` such as `all:6h`. */
export const missedRule = z
  .string()
  .regex(/^(skip|once|all:[1-9]\d{0,4}[mhd])$/, "write 'skip', 'once' or 'all:' and a time such as 'all:6h'");

/** A string that can be stored. */
const text = (max: number) =>
  z
    .string()
    .max(max)
    .regex(/^[^\u0000]*$/, 'must not contain a NUL character')
    // The database would replace each half with the same character, so two keys could become equal.
    .refine((words) => words.isWellFormed(), 'must not contain an unpaired surrogate');

/** A malformed window. A window that is out of range is a 422, like any problem with a cron expression. */
const window = z
  .string()
  .regex(
    /^\d{1,6}[mh%]$/,
    "write whole minutes or hours up to 24h, such as '15m' or '2h', or a percentage such as '50%'",
  );

export const updateScheduleBody = z.object({
  /** A scheduled task of the current version. */
  task: text(128).min(1),
  /** Five fields: minute, hour, day of month, month, day of week. */
  cron: text(10_000),
  /** Free text, such as a user id; empty means none. */
  externalId: text(2_048).nullish(),
  /** IANA name. Default `UTC`. */
  timezone: text(256).nullish(),
  /** Spreads the start within this time after the tick, always at the same offset for one schedule. */
  window: window.nullish(),
  /** Default `once`. */
  missed: missedRule.nullish(),
  /** Default `allow`. */
  overlap: z.enum(overlapRules).nullish(),
});

export const createScheduleBody = updateScheduleBody.extend({
  /** An environment has one schedule with this key; creating it again replaces it. If empty, a random key is used. */
  deduplicationKey: text(512),
  /** If false, it does not fire until it is activated. Default true; an existing schedule keeps its state. */
  active: z.boolean().nullish(),
});

export const schedule = z.object({
  id: z.string(),
  type: z.enum(scheduleTypes),
  task: z.string(),
  active: z.boolean(),
  deduplicationKey: z.string().optional(),
  externalId: z.string().optional(),
  generator: z.object({ type: z.literal('CRON'), expression: z.string(), description: z.string() }),
  timezone: z.string(),
  window: z.string().optional(),
  missed: z.string(),
  overlap: z.enum(overlapRules),
  /** The nominal time; null when there are no further ticks or the schedule is not active. */
  nextRun: date.nullable(),
  /** The nominal time plus the schedule's offset in its window. */
  nextRunEffectiveAt: date.nullable(),
  environments: z.array(z.object({ id: z.string(), type: z.string() })),
  /** Start delays of the latest runs (at most 20), in milliseconds; absent before the first run. */
  lag: z.object({ lastMs: z.number(), maxMs: z.number(), runs: z.number().int() }).optional(),
});
export type Schedule = z.infer<typeof schedule>;

const scheduleId = z.object({
  /** `sched_…`, or a deduplication key. */
  scheduleId: text(512).min(1),
});

export const createSchedule = operation({
  id: 'createSchedule',
  method: 'POST',
  path: '/api/v1/schedules',
  tag: 'schedules',
  summary: 'Create a schedule, or replace the one with the same deduplication key',
  access: { secretKey: true, action: 'write', on: 'schedules' },
  listsIssues: true,
  body: createScheduleBody,
  reply: schedule,
  errors: [422],
});

export const listSchedules = operation({
  id: 'listSchedules',
  method: 'GET',
  path: '/api/v1/schedules',
  tag: 'schedules',
  summary: 'List schedules, newest first or by next fire time',
  access: { secretKey: true, action: 'read', on: 'schedules' },
  listsIssues: true,
  query: z.object({
    page: z.coerce.number().int().min(1).max(1_000_000).default(1),
    /** Values above 100 are reduced to 100. */
    perPage: z.coerce
      .number()
      .int()
      .min(1)
      .default(20)
      .transform((size) => Math.min(size, 100)),
    /** `next`: the schedules that fire next come first; those that do not fire come last. */
    sort: z.enum(['created', 'next']).default('created'),
  }),
  reply: z.object({
    data: z.array(schedule),
    pagination: z.object({
      currentPage: z.number().int(),
      totalPages: z.number().int(),
      count: z.number().int(),
    }),
  }),
});

export const retrieveSchedule = operation({
  id: 'retrieveSchedule',
  method: 'GET',
  path: '/api/v1/schedules/:scheduleId',
  tag: 'schedules',
  summary: 'Retrieve a schedule',
  access: { secretKey: true, action: 'read', on: 'schedules' },
  params: scheduleId,
  reply: schedule,
  errors: [404],
});

export const updateSchedule = operation({
  id: 'updateSchedule',
  method: 'PUT',
  path: '/api/v1/schedules/:scheduleId',
  tag: 'schedules',
  summary: 'Replace a schedule: omitted fields are set to their defaults; its task is kept',
  access: { secretKey: true, action: 'write', on: 'schedules' },
  listsIssues: true,
  params: scheduleId,
  body: updateScheduleBody,
  reply: schedule,
  errors: [404, 422],
});

export const deleteSchedule = operation({
  id: 'deleteSchedule',
  method: 'DELETE',
  path: '/api/v1/schedules/:scheduleId',
  tag: 'schedules',
  summary: 'Delete a schedule; its runs are kept',
  access: { secretKey: true, action: 'write', on: 'schedules' },
  params: scheduleId,
  reply: z.object({ id: z.string() }),
  errors: [404],
});

export const activateSchedule = operation({
  id: 'activateSchedule',
  method: 'POST',
  path: '/api/v1/schedules/:scheduleId/activate',
  tag: 'schedules',
  summary: 'Activate a schedule',
  access: { secretKey: true, action: 'write', on: 'schedules' },
  params: scheduleId,
  reply: schedule,
  errors: [404],
});

export const deactivateSchedule = operation({
  id: 'deactivateSchedule',
  method: 'POST',
  path: '/api/v1/schedules/:scheduleId/deactivate',
  tag: 'schedules',
  summary: 'Deactivate a schedule',
  access: { secretKey: true, action: 'write', on: 'schedules' },
  params: scheduleId,
  reply: schedule,
  errors: [404],
});

/** A future tick of a schedule. */
export const upcomingTick = z.object({
  /** The time given by the cron expression. */
  nominalAt: date,
  /** When its run starts: later only if the schedule has a window. */
  effectiveAt: date,
});

export const previewSchedule = operation({
  id: 'previewSchedule',
  method: 'GET',
  path: '/api/v1/schedules/:scheduleId/preview',
  tag: 'schedules',
  summary: 'Preview the next fire times of a schedule, active or not',
  access: { secretKey: true, action: 'read', on: 'schedules' },
  params: scheduleId,
  query: z.object({
    n: z.coerce.number().int().min(1).max(1_000).default(10),
    /** Ticks strictly after this time. Default: now. */
    from: instant.optional(),
  }),
  reply: z.object({ ticks: z.array(upcomingTick) }),
  errors: [404],
});

/** The reasons why a tick created no run. `failed`: its run could not be created; the server log contains the reason. */
export const skipReasons = ['missed', 'overlap', 'no_runner', 'no_task', 'archived', 'failed'] as const;

export const scheduleTick = z.discriminatedUnion('outcome', [
  z.object({
    outcome: z.literal('fired'),
    /** The time given by the cron expression. */
    nominalAt: date,
    /** When it was due: later only if the schedule has a window. */
    dueAt: date,
    firedAt: date,
    backfilled: z.boolean(),
    runId: z.string(),
    /** The status of the run; missing once the run was deleted. */
    status: z.enum(runStatuses).optional(),
  }),
  z.object({
    outcome: z.literal('skipped'),
    /** The first and the last of the combined ticks. */
    nominalAt: date,
    untilAt: date,
    reason: z.enum(skipReasons),
    recordedAt: date,
  }),
]);
export type ScheduleTick = z.infer<typeof scheduleTick>;

export const listScheduleTicks = operation({
  id: 'listScheduleTicks',
  method: 'GET',
  path: '/api/v1/schedules/:scheduleId/ticks',
  tag: 'schedules',
  summary: 'List the ticks of a schedule in the last 30 days with their outcome, newest first',
  access: { secretKey: true, action: 'read', on: 'schedules' },
  params: scheduleId,
  query: z.object({
    'filter[outcome]': z.enum(['fired', 'skipped']).optional(),
    'page[size]': pageSize(50),
    /** Ticks before this time, the `next` of an earlier page. */
    'page[after]': instant.optional(),
  }),
  reply: z.object({ data: z.array(scheduleTick), pagination: z.object({ next: z.string().optional() }) }),
  errors: [404],
});

/** Maximum number of ticks in one backfill request. */
export const maxBackfilled = 1_000;

export const backfillSchedule = operation({
  id: 'backfillSchedule',
  method: 'POST',
  path: '/api/v1/schedules/:scheduleId/backfill',
  tag: 'schedules',
  summary: 'Backfill a past range: trigger a run for each tick without one',
  access: { secretKey: true, action: 'write', on: 'schedules' },
  params: scheduleId,
  body: z.object({
    /** The start of the range, inclusive. */
    from: z.iso.datetime({ offset: true }),
    /** The end of the range, exclusive; must not be in the future. A time within the next minute counts as now. */
    to: z.iso.datetime({ offset: true }),
    /** Maximum number of ticks to process, oldest first. */
    max: z.number().int().min(1).max(maxBackfilled).default(100),
  }),
  reply: z.object({
    /** The created runs, oldest tick first. */
    runs: z.array(z.object({ id: z.string(), nominalAt: date })),
    /** Number of ticks in the range that had already run. */
    alreadyRun: z.number().int(),
    /** Where to continue if the range has more than `max` ticks: the next `from`. */
    next: date.optional(),
  }),
  errors: [404, 422],
});

export const listTimezones = operation({
  id: 'listTimezones',
  method: 'GET',
  path: '/api/v1/timezones',
  tag: 'schedules',
  summary: 'List the time zones for schedules',
  access: { open: true },
  query: z.object({
    /** `true` excludes UTC. */
    excludeUtc: z.string().optional(),
  }),
  reply: z.object({ timezones: z.array(z.string()) }),
  cors: true,
});
