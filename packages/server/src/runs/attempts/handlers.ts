import type { OperationsOf } from '@millrace/contract';
import { notFound } from '../../problem.ts';
import type { HandlersOf } from '../../request.ts';
import { findRun } from '../access/authorize.ts';
import type { Engine } from '../engine/engine.ts';
import { listAttempts } from './list.ts';

export const attemptHandlers = (engine: Engine): HandlersOf<OperationsOf<'runsAttempts'>> => ({
  async listRunAttempts(request) {
    const { id } = await findRun(engine.sql, request, notFound('Run not found', false, 'run_not_found'));
    return listAttempts(engine, request.environment.id, id, request.query);
  },
});
