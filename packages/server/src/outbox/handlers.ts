import type { OperationsOf } from '@millrace/contract';
import { retryOnConflict } from '../db/retry.ts';
import type { HandlersOf } from '../request.ts';
import type { TakeRuns } from '../runs/create/quota.ts';
import { deliver, follow, prepareItems, type OutboxDependencies } from './deliver.ts';

export function outboxHandlers(
  dependencies: OutboxDependencies & { readonly takeRuns: TakeRuns },
): HandlersOf<OperationsOf<'outbox'>> {
  const { engine, takeRuns } = dependencies;
  return {
    async deliverOutbox(request) {
      const { items } = request.body;
      // Callers who may trigger none of the tasks are rejected, so that a drainer with a wrong key marks no row as failed.
      request.authorize(items.map(({ task }) => ({ type: 'tasks', id: String(task) })));
      request.charge(items.length - 1);
      takeRuns(request, items.length);
      const { environment } = request;
      const prepared = await prepareItems(dependencies, environment, items, (task) =>
        request.authorize([{ type: 'tasks', id: task }]),
      );
      const { results, created } = await retryOnConflict(() =>
        engine.sql.begin((tx) => deliver(tx, engine, environment.id, prepared, { mayComeAgain: true })),
      );
      follow(dependencies, created);
      return { results: [...results] };
    },
  };
}
