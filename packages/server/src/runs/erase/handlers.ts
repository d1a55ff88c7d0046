import type { OperationsOf } from '@millrace/contract';
import { recordHere } from '../../audit/record.ts';
import type { HandlersOf } from '../../request.ts';
import type { Engine } from '../engine/engine.ts';
import { abortErasure } from './abort.ts';
import { createErasure } from './create.ts';
import { listErasures, retrieveErasure } from './read.ts';

export function erasureHandlers(engine: Pick<Engine, 'sql' | 'clock'>): HandlersOf<OperationsOf<'erasures'>> {
  const { sql } = engine;
  return {
    createErasure(request) {
      const { environment, body } = request;
      return createErasure(engine, environment.id, body, recordHere(environment, request));
    },
    listErasures: ({ environment, query }) => listErasures(sql, environment.id, query),
    retrieveErasure: ({ environment, params }) => retrieveErasure(sql, environment.id, params.erasureId),
    abortErasure(request) {
      const { environment, params } = request;
      return abortErasure(engine, environment.id, params.erasureId, recordHere(environment, request));
    },
  };
}
