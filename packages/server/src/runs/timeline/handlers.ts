import type { OperationsOf } from '@millrace/contract';
import { notFound } from '../../problem.ts';
import type { HandlersOf } from '../../request.ts';
import { findRun, mayReadRun } from '../access/authorize.ts';
import type { Engine } from '../engine/engine.ts';
import { timelineOf } from './timeline.ts';

export const timelineHandlers = (engine: Engine): HandlersOf<OperationsOf<'runsTimeline'>> => ({
  async retrieveRunTimeline(request) {
    const { environment, principal, query } = request;
    const { id } = await findRun(engine.sql, request, notFound('Run not found', false, 'run_not_found'));
    const timeline = await timelineOf(engine, environment.id, id, query, (run) => mayReadRun(principal, run));
    if (!timeline) throw notFound('Run not found', false, 'run_not_found');
    return timeline;
  },
});
