import type { Assignment } from './assignment.ts';

const defaults = {
  payload: null,
  payloadType: 'application/json',
  metadata: null,
  tags: [],
  isTest: false,
  concurrencyKey: null,
  maxAttempts: null,
  maxDuration: null,
  machine: null,
  priority: 0,
  startedAt: null,
  parentRun: null,
  rootRun: null,
  batch: null,
  schedule: null,
  event: null,
  traceparent: null,
  replayOf: null,
  idempotencyKey: null,
  idempotencyKeyScope: null,
  region: null,
} satisfies Partial<Assignment>;

/**
 * The sent form of an assignment, without fields that have their default value. It is serialized three times on its way to the task's code,
 * and half of its bytes would otherwise be defaults.
 */
export type CompactAssignment = Pick<
  Assignment,
  'run' | 'fence' | 'attempt' | 'task' | 'version' | 'createdAt'
> & { readonly [name in keyof typeof defaults | 'queue']?: Assignment[name] | undefined };

/** Omits default values. JSON omits undefined members. */
export const compact = (assignment: Assignment): CompactAssignment => ({
  run: assignment.run,
  fence: assignment.fence,
  attempt: assignment.attempt,
  task: assignment.task,
  version: assignment.version,
  createdAt: assignment.createdAt,
  queue: assignment.queue === `task/${assignment.task}` ? undefined : assignment.queue,
  payload: assignment.payload ?? undefined,
  payloadType: assignment.payloadType === defaults.payloadType ? undefined : assignment.payloadType,
  metadata: assignment.metadata ?? undefined,
  tags: assignment.tags.length === 0 ? undefined : assignment.tags,
  isTest: assignment.isTest || undefined,
  concurrencyKey: assignment.concurrencyKey ?? undefined,
  maxAttempts: assignment.maxAttempts ?? undefined,
  maxDuration: assignment.maxDuration ?? undefined,
  machine: assignment.machine ?? undefined,
  priority: assignment.priority === 0 ? undefined : assignment.priority,
  startedAt: assignment.startedAt ?? undefined,
  parentRun: assignment.parentRun ?? undefined,
  rootRun: assignment.rootRun ?? undefined,
  batch: assignment.batch ?? undefined,
  schedule: assignment.schedule ?? undefined,
  event: assignment.event ?? undefined,
  traceparent: assignment.traceparent ?? undefined,
  replayOf: assignment.replayOf ?? undefined,
  idempotencyKey: assignment.idempotencyKey ?? undefined,
  idempotencyKeyScope: assignment.idempotencyKeyScope ?? undefined,
  region: assignment.region ?? undefined,
});

/** Restores default values. Parsed JSON has no undefined members. */
export const inFull = (read: CompactAssignment): Assignment => ({
  queue: `task/${read.task}`,
  ...defaults,
  ...read,
});
