import type { Assignment } from './assignment.ts';

const usual = {
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
} satisfies Partial<Assignment>;

/**
 * An assignment as it travels: what is as it nearly always is stays at home. It is written and read three times on its way to the
 * task's code, and half of its bytes said "nothing".
 */
export type BriefAssignment = Pick<
  Assignment,
  'run' | 'fence' | 'attempt' | 'task' | 'version' | 'createdAt'
> & { readonly [name in keyof typeof usual | 'queue']?: Assignment[name] | undefined };

/** Without its usual parts. JSON leaves out what is undefined. */
export const brief = (assignment: Assignment): BriefAssignment => ({
  run: assignment.run,
  fence: assignment.fence,
  attempt: assignment.attempt,
  task: assignment.task,
  version: assignment.version,
  createdAt: assignment.createdAt,
  queue: assignment.queue === `task/${assignment.task}` ? undefined : assignment.queue,
  payload: assignment.payload ?? undefined,
  payloadType: assignment.payloadType === usual.payloadType ? undefined : assignment.payloadType,
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
});

/** With its usual parts again. What was read from JSON has no member that is undefined. */
export const inFull = (read: BriefAssignment): Assignment => ({
  queue: `task/${read.task}`,
  ...usual,
  ...read,
});
