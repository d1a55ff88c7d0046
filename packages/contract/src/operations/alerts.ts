import { z } from 'zod';
import { alertKinds, alertQuiet } from '../alert-rules.ts';
import { durationText, parseDuration } from '../duration.ts';
import { operation } from '../operation.ts';
import { date, environmentInPath, keyOf, nameOf, owner } from './shapes.ts';

/** A duration such as `5m`, as seconds. */
const span = ({ min, max }: { readonly min: number; readonly max: number }) =>
  z.string().transform((text, context) => {
    const ms = parseDuration(text);
    if (typeof ms === 'number' && ms >= min * 1_000 && ms <= max * 1_000) return Math.round(ms / 1_000);
    const message =
      typeof ms === 'number' ? `must be from ${durationText(min)} to ${durationText(max)}` : ms.error;
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  });

const settings = {
  /** The range for all kinds; the server also checks the limits of the specific kind. */
  window: span({ min: 0, max: 86_400 }).optional(),
  /** The minimum time between two messages of this alert. Events in between are included in the next one. */
  quiet: span(alertQuiet).optional(),
  threshold: z.number().optional(),
  /** For `task.failureRate`: the minimum number of runs that ended within the window. */
  minRuns: z.number().int().min(1).max(1_000_000).optional(),
};
const name = nameOf(128);
const endpoints = z.array(z.string().min(1).max(128)).min(1).max(50);
/** For the kinds that concern tasks: only those of these owners, in any case. */
const owners = z.array(owner).min(1).max(20);

export const alert = z.object({
  /** `alert_…` */
  id: z.string(),
  kind: z.enum(alertKinds),
  name: z.string().nullable(),
  /** Null means every task, or every queue. */
  task: z.string().nullable(),
  queue: z.string().nullable(),
  /** Only errors and tasks of these owners; null means all. */
  owners: z.array(z.string()).nullable(),
  threshold: z.number(),
  /** For `task.failureRate`. */
  minRuns: z.number().int().nullable(),
  window: z.string(),
  quiet: z.string(),
  /** Ids; null means every endpoint that accepts `alert.*`. */
  endpoints: z.array(z.string()).nullable(),
  enabled: z.boolean(),
  /**
   * `FIRING` from the first message until the one that reports its end. Alerts on errors and schedules are about single events, so they are
   * always `OK`.
   */
  state: z.enum(['OK', 'FIRING']),
  firingSince: date.nullable(),
  lastSentAt: date.nullable(),
  createdAt: date,
});
export type Alert = z.infer<typeof alert>;

/** The subject of a firing condition, such as a queue. */
export const alertSubject = z.object({
  subject: z.string(),
  since: date,
  /** In the unit of the threshold. */
  value: z.number(),
  /** Whether a message has named it. */
  notified: z.boolean(),
});
export type AlertSubject = z.infer<typeof alertSubject>;

const oneAlert = environmentInPath.extend({ alertId: z.string().min(1).max(128) });

const read = {
  secretKey: true,
  personalAccessToken: true,
  role: 'viewer',
  action: 'read',
  on: 'webhooks',
} as const;
const write = {
  secretKey: true,
  personalAccessToken: true,
  role: 'member',
  action: 'write',
  on: 'webhooks',
  forbidsRuns: true,
} as const;
const root = '/api/v1/projects/:projectRef/alerts/:env';
const tag = 'alerts';

export const createAlert = operation({
  id: 'createAlert',
  method: 'POST',
  path: root,
  tag,
  summary: 'Create an alert, which notifies endpoints when its condition holds',
  access: write,
  params: environmentInPath,
  body: z.object({
    kind: z.enum(alertKinds),
    name: name.optional(),
    task: keyOf(128).min(1).optional(),
    queue: keyOf(128).min(1).optional(),
    owners: owners.optional(),
    endpoints: endpoints.optional(),
    ...settings,
  }),
  reply: alert,
  errors: [404, 422],
});

export const listAlerts = operation({
  id: 'listAlerts',
  method: 'GET',
  path: root,
  tag,
  summary: 'List the alerts of an environment, oldest first',
  access: read,
  params: environmentInPath,
  reply: z.object({ data: z.array(alert) }),
  errors: [404],
});

export const retrieveAlert = operation({
  id: 'retrieveAlert',
  method: 'GET',
  path: `${root}/:alertId`,
  tag,
  summary: 'Retrieve an alert with the subjects that it is firing for',
  access: read,
  params: oneAlert,
  reply: alert.extend({ subjects: z.array(alertSubject) }),
  errors: [404],
});

export const updateAlert = operation({
  id: 'updateAlert',
  method: 'PATCH',
  path: `${root}/:alertId`,
  tag,
  summary: 'Update an alert, or switch it off or on',
  access: write,
  params: oneAlert,
  body: z.object({
    name: name.nullable().optional(),
    task: keyOf(128).min(1).nullable().optional(),
    queue: keyOf(128).min(1).nullable().optional(),
    owners: owners.nullable().optional(),
    endpoints: endpoints.nullable().optional(),
    enabled: z.boolean().optional(),
    ...settings,
  }),
  reply: alert,
  errors: [404, 422],
});

export const deleteAlert = operation({
  id: 'deleteAlert',
  method: 'DELETE',
  path: `${root}/:alertId`,
  tag,
  summary: 'Delete an alert',
  access: write,
  params: oneAlert,
  reply: z.object({ id: z.string() }),
  errors: [404],
});
