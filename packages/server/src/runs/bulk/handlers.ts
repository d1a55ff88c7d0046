import type { OperationsOf } from '@millrace/contract';
import { recordHere } from '../../audit/record.ts';
import type { HandlersOf } from '../../request.ts';
import type { Engine } from '../engine/engine.ts';
import type { TakeRuns } from '../create/quota.ts';
import { abortBulkAction } from './abort.ts';
import { createBulkAction } from './create.ts';
import { listBulkActions, retrieveBulkAction } from './read.ts';

/** `wakeNow` immediately starts this process's job. */
export function bulkHandlers(
  engine: Pick<Engine, 'sql' | 'clock'>,
  takeRuns: TakeRuns,
  wakeNow: () => void,
): HandlersOf<OperationsOf<'bulk'>> {
  const { sql } = engine;
  return {
    async createBulkAction(request) {
      const { environment, body } = request;
      // The number of matches of a filter is not known yet; the bulk worker replays them a hundred at a time.
      if (body.action === 'replay' && body.runIds) takeRuns(request, body.runIds.length);
      const id = await createBulkAction(engine, environment.id, body, recordHere(environment, request));
      wakeNow();
      return { id };
    },
    listBulkActions: ({ environment, query }) => listBulkActions(sql, environment.id, query),
    retrieveBulkAction: ({ environment, params }) =>
      retrieveBulkAction(sql, environment.id, params.bulkActionId),
    async abortBulkAction(request) {
      const { environment } = request;
      const { bulkActionId: id } = request.params;
      await abortBulkAction(engine, environment.id, id, recordHere(environment, request));
      return { id };
    },
  };
}
