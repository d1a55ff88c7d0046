import { storedType, type BatchItem, type Operations, type OperationsOf } from '@millrace/contract';
import type { MintPublicToken } from '../auth/mint.ts';
import { oneTimeUseOf } from '../auth/one-time.ts';
import { allows, someTask } from '../auth/scopes.ts';
import { isUser, type Principal } from '../auth/principal.ts';
import type { Queryable, Transaction } from '../db/connect.ts';
import { notFound, unprocessable } from '../problem.ts';
import type { HandlersOf, Request } from '../request.ts';
import type { Engine } from '../runs/engine/engine.ts';
import { resultOf } from '../runs/complete/outcome.ts';
import { shownKey } from '../runs/create/idempotency-key.ts';
import { holdParent, type Parent } from '../runs/create/parent.ts';
import { authorizePacket, payloadOf } from '../runs/create/authorize-packet.ts';
import { authorizeParent, authorizeReplacing } from '../runs/access/authorize.ts';
import type { Batches, BatchRow } from './batch.ts';
import { abortedBatch } from './fill.ts';
import { columns, openBatch, type Opened } from './open.ts';
import type { TakeRuns } from '../runs/create/quota.ts';
import { listBatches } from './list.ts';
import { retrieveBatch } from './retrieve.ts';
import { fillFromLines } from './upload.ts';
import { createWhole } from './whole.ts';

export interface BatchHandlerDependencies extends Batches {
  readonly engine: Engine;
  readonly mint: MintPublicToken;
  readonly takeRuns: TakeRuns;
}

const handleTokenSeconds = 3_600;

export function batchHandlers(dependencies: BatchHandlerDependencies): HandlersOf<OperationsOf<'batches'>> {
  const { sql, engine, mint, takeRuns } = dependencies;

  const authorizeTasks = (
    request: Pick<Request<Operations['createBatch']>, 'authorize' | 'principal'>,
    tasks: readonly string[] | undefined,
  ): void => {
    // Clients before 4.5 do not name the tasks: permission is checked for each item on arrival.
    if (tasks === undefined) request.authorize([...someTask(request.principal), { type: 'batch' }]);
    for (const id of new Set(tasks)) request.authorize([{ type: 'tasks', id }, { type: 'batch' }]);
  };

  /**
   * Authorizes a batch found by the caller's idempotency key: a caller may neither read nor fill it without permission to trigger its tasks.
   */
  const authorizeFound = (
    request: Pick<Request<Operations['createBatch']>, 'authorize'>,
    tasks: readonly string[] | undefined,
  ): void => {
    if (tasks === undefined) request.authorize([{ type: 'tasks' }, { type: 'batch' }]);
    else for (const id of tasks) request.authorize([{ type: 'tasks', id }, { type: 'batch' }]);
  };

  const answerOpened = async (
    request: Pick<
      Request<Operations['createBatch']>,
      'principal' | 'environment' | 'header' | 'setHeader' | 'setStatus'
    >,
    { batch, isCached }: Opened,
  ) => {
    const { principal } = request;
    if (!isUser(principal)) {
      const mayFill = request.header('x-trigger-client') === 'browser' && mayTriggerAll(principal);
      const scopes = [`read:batch:${batch.id}`, ...(mayFill ? [`write:batch:${batch.id}`] : [])];
      const token = await mint(principal, { scopes, expiresInSeconds: handleTokenSeconds });
      if (token !== undefined) request.setHeader('x-trigger-jwt', token);
      request.setHeader(
        'x-trigger-jwt-claims',
        JSON.stringify({ sub: request.environment.publicId, pub: true }),
      );
    }
    if (isCached) request.setStatus(200);
    return {
      id: batch.id,
      runCount: batch.run_count,
      isCached,
      idempotencyKey: shownKey(batch.idempotency_key),
    };
  };

  const findBatch = async (
    request: Pick<Request<Operations['retrieveBatch']>, 'params' | 'environment' | 'authorize'>,
  ) => {
    const { batchId } = request.params;
    const batch = await retrieveBatch(sql, request.environment.id, batchId);
    // A client that has just created the batch may be ahead of a replica, so it should try again.
    if (!batch) throw notFound('Not found', true);
    request.authorize([{ type: 'batch', id: batchId }, { type: 'runs' }]);
    return batch;
  };

  return {
    async createBatch(request) {
      const { body, environment } = request;
      authorizeTasks(request, body.taskIdentifiers);
      await authorizeParent(sql, request, body.parentRunId);
      takeRuns(request, body.runCount);
      const opened = await openBatch(dependencies, {
        ...body,
        env: environment.id,
        tasks: body.taskIdentifiers,
        admit: mayTriggerAll(request.principal) ? undefined : (tasks) => authorizeFound(request, tasks),
        resumeParent: body.resumeParentOnCompletion,
        requestKey: request.requestKey,
        oneTime: oneTimeUseOf(request.principal),
      });
      return answerOpened(request, opened);
    },

    async addBatchItems(request) {
      const { environment, body, params, query } = request;
      const { batchId } = params;
      const env = environment.id;
      const admit = (task?: string): void =>
        request.authorize([
          { type: 'batch', id: batchId },
          { type: 'tasks', ...(task !== undefined && { id: task }) },
        ]);
      await refuseOtherToken(sql, request.principal, batchId);
      const [batch] = await sql<BatchRow[]>`
        select ${columns(sql)} from batches where env = ${env} and id = ${batchId}`;
      if (!batch) {
        admit();
        throw unprocessable(`Batch ${batchId} not found`);
      }
      // Nothing more is written to a sealed batch, so a repeated request gets this result regardless of the state of the batch's parent.
      const parentId = batch.sealed_at === null ? batch.parent_run_id : null;
      const parent = parentId === null ? undefined : await holdParent(sql, env, parentId, undefined);
      const hold = batch.sealed_at === null ? holding(env, parent, query) : undefined;
      const admitItem = (item: BatchItem) => authorizePacket(sql, request, payloadOf(item));
      const upload = {
        batches: dependencies,
        environment,
        batch,
        parent,
        hold,
        admit(item: BatchItem) {
          admit(item.task);
          authorizeReplacing(request, item.task, item.options);
        },
        authorizePacket: admitItem,
      };
      const filled = await fillFromLines(upload, body);
      engine.changes.someChanged(env);
      // If there were no lines, no permission has been checked yet.
      if (filled.accepted + filled.deduplicated === 0) admit();
      if (batch.aborted_at !== null) throw abortedBatch(batchId);
      const wasSealed = batch.sealed_at !== null;
      return {
        id: batchId,
        itemsAccepted: filled.accepted,
        itemsDeduplicated: wasSealed ? 0 : filled.deduplicated,
        sealed: filled.sealed,
        runCount: batch.run_count,
        ...(!filled.sealed && { enqueuedCount: filled.received, expectedCount: batch.run_count }),
      };
    },

    async createWholeBatch(request) {
      const { body, environment, principal, requestKey } = request;
      const { items, parentRunId, parentFence } = body;
      authorizeTasks(
        request,
        items.map((item) => item.task),
      );
      await authorizeParent(sql, request, parentRunId);
      for (const item of items) {
        authorizeReplacing(request, item.task, item.options);
        if (item.options?.payloadType === storedType) await authorizePacket(sql, request, payloadOf(item));
      }
      takeRuns(request, items.length);
      const newBatch = {
        env: environment.id,
        runCount: items.length,
        parentRunId,
        parentFence,
        resumeParent: body.resumeParentOnCompletion,
        waitKey: body.waitKey,
        requestKey,
        oneTime: oneTimeUseOf(principal),
      };
      const { opened, notify } = await createWhole(dependencies, environment, newBatch, items);
      notify(dependencies);
      engine.changes.someChanged(environment.id);
      return answerOpened(request, opened);
    },

    retrieveBatch: findBatch,

    async retrieveBatchBefore(request) {
      const { id, status, idempotencyKey, createdAt, updatedAt, runCount, runs } = await findBatch(request);
      return { id, status, idempotencyKey, createdAt, updatedAt, runCount, runs };
    },

    listBatches: ({ environment, query }) => listBatches(sql, environment.id, query),

    async listBatchResults(request) {
      const { batchId } = request.params;
      request.authorize([{ type: 'batch', id: batchId }, { type: 'runs' }]);
      const env = request.environment.id;
      const batch = await retrieveBatch(sql, env, batchId);
      if (!batch) throw notFound('Batch not found');
      const items: RunResult[] = [];
      for (const run of batch.runs) {
        const result = await resultOf(engine, env, run);
        if (result) items.push(result);
      }
      return { id: batchId, items };
    },
  };
}

const mayTriggerAll = (principal: Principal): boolean =>
  !isUser(principal) && allows(principal.scopes, 'batchTrigger', [{ type: 'tasks' }, { type: 'batch' }]);

/** Locks the run that opened the batch and the attempt that fills it. With an idempotency key, these may be different runs. */
function holding(
  env: number,
  parent: Parent | undefined,
  { senderRunId, senderFence }: Request<Operations['addBatchItems']>['query'],
): ((tx: Transaction) => Promise<void>) | undefined {
  const sender = senderFence === undefined ? undefined : senderRunId;
  if (parent === undefined && sender === undefined) return undefined;
  return async (tx) => {
    if (parent && parent.id !== sender) await holdParent(tx, env, parent.id, undefined);
    if (sender !== undefined) await holdParent(tx, env, sender, senderFence);
  };
}

type RunResult = NonNullable<Awaited<ReturnType<typeof resultOf>>>;

/** A one-time token that opened a batch may fill only that batch. */
async function refuseOtherToken(sql: Queryable, principal: Principal, batch: string): Promise<void> {
  const use = oneTimeUseOf(principal);
  if (!use) return;
  const [row] = await sql<
    { created: string }[]
  >`select created from one_time_uses where digest = ${use.digest}`;
  if (row?.created !== batch) {
    throw unprocessable('A one-time token can fill only the batch that was created with it');
  }
}
