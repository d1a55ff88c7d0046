import { environmentTypes, type EnvironmentKind } from '@millrace/contract/environment';
import type { Assignment, EnvironmentInfo } from '@millrace/contract/runner';
import type { Context } from '../task/context.ts';

export interface ContextInput {
  readonly assignment: Assignment;
  readonly environment: EnvironmentInfo;
  readonly filePath: string;
  readonly maxAttempts: number;
  readonly maxDuration: number | undefined;
  readonly startedAt: Date;
}

/** The `ctx` of an attempt. */
export function contextOf({ assignment, environment, startedAt, ...rest }: ContextInput): Context {
  return {
    task: { id: assignment.task, filePath: rest.filePath },
    run: {
      id: assignment.run,
      tags: assignment.tags,
      isTest: assignment.isTest,
      createdAt: new Date(assignment.createdAt),
      startedAt: assignment.startedAt == null ? startedAt : new Date(assignment.startedAt),
      maxAttempts: rest.maxAttempts,
      maxDuration: rest.maxDuration,
      priority: assignment.priority,
      concurrencyKey: assignment.concurrencyKey ?? undefined,
      version: assignment.version,
      parentRunId: assignment.parentRun ?? undefined,
      rootRunId: assignment.rootRun ?? undefined,
      replayOf: assignment.replayOf ?? undefined,
      idempotencyKey: assignment.idempotencyKey ?? undefined,
      idempotencyKeyScope: assignment.idempotencyKeyScope ?? undefined,
      region: assignment.region ?? undefined,
    },
    attempt: { number: assignment.attempt, startedAt },
    environment: {
      id: environment.id,
      slug: environment.slug,
      type: environmentTypes[environment.kind as EnvironmentKind] ?? environment.kind,
      branchName: environment.branch ?? undefined,
    },
    project: { ref: environment.projectRef, name: environment.projectName },
    organization: { id: environment.organizationId, name: environment.organizationName },
    queue: { name: assignment.queue },
    machine: assignment.machine === null ? undefined : { name: assignment.machine },
    batch: assignment.batch === null ? undefined : { id: assignment.batch },
    event: eventOf(assignment.event),
  };
}

function eventOf(text: string | null | undefined): Context['event'] {
  if (text === null || text === undefined) return undefined;
  const { timestamp, ...event } = JSON.parse(text) as { id: string; name: string; timestamp: string };
  return { ...event, timestamp: new Date(timestamp) };
}
