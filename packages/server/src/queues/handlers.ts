import type { Operations, Queue } from '@millrace/contract';
import type { Clock } from '../db/clock.ts';
import type { Sql } from '../db/connect.ts';
import { notFound } from '../problem.ts';
import type { HandlersOf } from '../request.ts';
import { changeQueue, type QueueChange } from './change.ts';
import { changeConcurrency, readConcurrency } from './concurrency.ts';
import { findQueue, listQueues, type QueueReference } from './find.ts';

type Named = Pick<
  Operations,
  | 'listQueues'
  | 'retrieveQueue'
  | 'pauseQueue'
  | 'overrideQueueConcurrency'
  | 'resetQueueConcurrency'
  | 'retrieveConcurrency'
  | 'updateConcurrency'
>;

export interface QueueHandlerDependencies {
  readonly sql: Sql;
  readonly clock: Pick<Clock, 'now'>;
  /** Runs of this environment may find a place now. */
  readonly wake: (env: number) => void;
}

export function queueHandlers({ sql, clock, wake }: QueueHandlerDependencies): HandlersOf<Named> {
  const change = async (env: number, reference: QueueReference, to: QueueChange): Promise<Queue> => {
    const queue = found(await changeQueue(sql, env, reference, to));
    wake(env);
    return queue;
  };

  return {
    async listQueues({ environment, query: { page, perPage } }) {
      const { queues, count } = await listQueues(sql, environment.id, page, perPage);
      return {
        data: queues,
        pagination: { currentPage: page, totalPages: Math.max(1, Math.ceil(count / perPage)), count },
      };
    },

    retrieveQueue: async ({ environment, params, query }) =>
      found(await findQueue(sql, environment.id, { ...params, ...query })),

    pauseQueue: ({ environment, params, body: { type, action } }) =>
      change(environment.id, { ...params, type }, { paused: action === 'pause' }),

    overrideQueueConcurrency: ({ environment, params, body: { type, concurrencyLimit } }) =>
      change(environment.id, { ...params, type }, { override: concurrencyLimit, at: new Date(clock.now()) }),

    resetQueueConcurrency: ({ environment, params, body: { type } }) =>
      change(environment.id, { ...params, type }, { override: null, at: new Date(clock.now()) }),

    retrieveConcurrency: ({ environment }) => readConcurrency(sql, environment.id),

    async updateConcurrency({ environment, body }) {
      const concurrency = await changeConcurrency(sql, environment.id, body);
      wake(environment.id);
      return concurrency;
    },
  };
}

function found(queue: Queue | undefined): Queue {
  if (!queue) throw notFound('Queue not found');
  return queue;
}
