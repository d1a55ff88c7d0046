import type { MachinePreset } from '@millrace/contract/runner';
import type { Context } from '@millrace/sdk';
import { machines } from '../settings/machines.ts';

/** The `ctx` of the published SDK, like its `TaskRunContext` of 4.0 to 4.8. */
export type PublishedContext = ReturnType<typeof publishedContext>;

/** Costs are 0, without billing. Ids that do not exist here are replaced by names. */
export const publishedContext = ({ run, ...ctx }: Context, machine?: string) => ({
  task: { id: ctx.task.id, filePath: ctx.task.filePath },
  attempt: {
    number: ctx.attempt.number,
    startedAt: ctx.attempt.startedAt,
    id: `${run.id}/${ctx.attempt.number}`,
    status: 'EXECUTING',
  },
  run: {
    id: run.id,
    tags: [...run.tags],
    isTest: run.isTest,
    isReplay: run.replayOf !== undefined,
    createdAt: run.createdAt,
    startedAt: run.startedAt,
    maxAttempts: run.maxAttempts,
    version: run.version,
    maxDuration: run.maxDuration,
    priority: run.priority,
    concurrencyKey: run.concurrencyKey,
    baseCostInCents: 0,
    costInCents: 0,
    durationMs: 0,
    parentTaskRunId: run.parentRunId,
    rootTaskRunId: run.rootRunId,
    idempotencyKey: run.idempotencyKey,
    idempotencyKeyScope: run.idempotencyKeyScope,
    region: run.region,
  },
  queue: { id: ctx.queue.name, name: ctx.queue.name },
  environment: {
    id: ctx.environment.id,
    slug: ctx.environment.slug,
    type: ctx.environment.type,
    branchName: ctx.environment.branchName,
  },
  organization: { id: ctx.organization.id, slug: ctx.organization.id, name: ctx.organization.name },
  project: { id: ctx.project.ref, ref: ctx.project.ref, slug: ctx.project.ref, name: ctx.project.name },
  machine: machineOf((ctx.machine?.name ?? machine) as MachinePreset | undefined),
  batch: ctx.batch && { id: ctx.batch.id },
  deployment:
    ctx.environment.type === 'DEVELOPMENT'
      ? undefined
      : {
          id: run.version,
          shortCode: run.version,
          version: run.version,
          runtime: 'node',
          runtimeVersion: process.versions.node,
        },
});

/** Without a machine a run shares its process. Their default preset is reported instead, because their code may rely on one. */
function machineOf(name: MachinePreset = 'small-1x') {
  const [cpu, memory] = machines[name];
  return { name, cpu, memory, centsPerMs: 0 };
}
