import type { OperationsOf, Queue } from '@millrace/contract';
import type { Environment } from '../auth/principal.ts';
import { findTarget, type Addressed } from '../auth/target.ts';
import { recordHere, type Actor } from '../audit/record.ts';
import type { Clock } from '../db/clock.ts';
import type { Sql } from '../db/connect.ts';
import { notFound } from '../problem.ts';
import type { HandlersOf } from '../request.ts';
import { changeQueue, type QueueChange } from './change.ts';
import { changeConcurrency, readConcurrency } from './concurrency.ts';
import { findQueue, rowName, type QueueReference } from './find.ts';
import { listQueueKeys } from './keys.ts';
import { listKeyWeights } from './key-weights.ts';
import { listQueues } from './list.ts';
import { readWaiting } from './waiting.ts';
import { listSharedLimits, overrideSharedLimit } from './shared-limits.ts';

export interface QueueHandlerDependencies {
  readonly sql: Sql;
  readonly clock: Pick<Clock, 'now'>;
  /** Runs of this environment may have a free slot now. */
  readonly wake: (env: number) => void;
}

export function queueHandlers({
  sql,
  clock,
  wake,
}: QueueHandlerDependencies): HandlersOf<OperationsOf<'queues' | 'environmentsPause'>> {
  const change = async (
    request: Actor & { readonly environment: Environment },
    reference: QueueReference,
    to: QueueChange,
  ): Promise<Queue> => {
    const { environment } = request;
    const record = recordHere(environment, request);
    const queue = found(await changeQueue(sql, environment.id, reference, to, record));
    wake(environment.id);
    return queue;
  };

  const pause = async (request: Addressed & Actor, paused: boolean) => {
    const environment = await findTarget(sql, request);
    await changeConcurrency(sql, environment.id, { paused }, recordHere(environment, request));
    wake(environment.id);
    return { id: environment.publicId, paused };
  };

  const share = async (
    request: Actor & { readonly environment: Environment },
    name: string,
    override: number | null,
  ) => {
    const { environment } = request;
    const to = { override, at: new Date(clock.now()) };
    const record = recordHere(environment, request);
    const limit = await overrideSharedLimit(sql, environment.id, name, to, record);
    if (!limit) throw notFound('Shared limit not found');
    wake(environment.id);
    return limit;
  };

  return {
    async listQueues({ environment, query }) {
      const { page, perPage } = query;
      const [{ queues, count }, waiting] = await Promise.all([
        listQueues(sql, environment.id, query),
        query.oldest === 'true' ? readWaiting(sql, environment.id) : undefined,
      ]);
      return {
        data: waiting
          ? queues.map((queue) => ({ ...queue, oldestMs: waiting.get(rowName(queue))?.oldestMs ?? null }))
          : queues,
        pagination: { currentPage: page, totalPages: Math.max(1, Math.ceil(count / perPage)), count },
      };
    },

    async retrieveQueue({ environment, params, query: { type, keys } }) {
      const queue = found(await findQueue(sql, environment.id, { ...params, type }));
      return { ...queue, ...(keys !== undefined && { keys: await listQueueKeys(sql, queue.id, keys) }) };
    },

    pauseQueue(request) {
      const { params, body } = request;
      return change(request, { ...params, type: body.type }, { paused: body.action === 'pause' });
    },

    overrideQueueConcurrency(request) {
      const { params, body } = request;
      const to = { override: body.concurrencyLimit, at: new Date(clock.now()) };
      return change(request, { ...params, type: body.type }, to);
    },

    resetQueueConcurrency(request) {
      const { params, body } = request;
      return change(request, { ...params, type: body.type }, { override: null, at: new Date(clock.now()) });
    },

    overrideQueueRateLimit(request) {
      const { params, body } = request;
      const to = { rateLimit: body.rateLimit, at: new Date(clock.now()) };
      return change(request, { ...params, type: body.type }, to);
    },
    resetQueueRateLimit(request) {
      const { params, body } = request;
      const to = { rateLimit: undefined, at: new Date(clock.now()) };
      return change(request, { ...params, type: body.type }, to);
    },

    setQueueKeyWeight(request) {
      const { params, body } = request;
      const { type, key, weight } = body;
      return change(request, { ...params, type }, { key, weight });
    },

    listKeyWeights: ({ environment, query }) => listKeyWeights(sql, environment.id, query),

    async listSharedLimits({ environment }) {
      return { data: await listSharedLimits(sql, environment.id) };
    },
    overrideSharedLimit: (request) => share(request, request.params.name, request.body.limit),
    resetSharedLimit: (request) => share(request, request.params.name, null),

    retrieveConcurrency: ({ environment }) => readConcurrency(sql, environment.id),

    async updateConcurrency(request) {
      const { environment, body } = request;
      const concurrency = await changeConcurrency(
        sql,
        environment.id,
        body,
        recordHere(environment, request),
      );
      wake(environment.id);
      return concurrency;
    },

    pauseEnvironment: (request) => pause(request, true),
    resumeEnvironment: (request) => pause(request, false),
  };
}

function found(queue: Queue | undefined): Queue {
  if (!queue) throw notFound('Queue not found');
  return queue;
}
