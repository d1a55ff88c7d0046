import type { OperationsOf } from '@millrace/contract';
import { notFound } from '../../problem.ts';
import type { HandlersOf } from '../../request.ts';
import type { ConnectedRunners } from '../../runners/runners.ts';
import { authorizeRunToWrite } from '../access/authorize.ts';
import type { Engine } from '../engine/engine.ts';
import { retrieveRun } from '../retrieve/retrieve.ts';
import { cancelRun } from './cancel.ts';

export const cancelHandlers = (
  engine: Engine,
  runners: ConnectedRunners,
): HandlersOf<OperationsOf<'runsCancel'>> => ({
  async cancelRun(request) {
    const { runId } = request.params;
    const env = request.environment.id;
    const run = await retrieveRun(engine, env, runId);
    if (run) authorizeRunToWrite(request, run);
    if (!run || !(await cancelRun(engine, runners, env, runId)))
      throw notFound('Resource not found', false, 'run_not_found');
    return { id: runId };
  },
});
