import type { FoundLine as WireLine, Operations, OperationsOf } from '@millrace/contract';
import { notFound } from '../../problem.ts';
import type { HandlersOf, Request } from '../../request.ts';
import { authorizeRun } from '../access/authorize.ts';
import type { Engine } from '../engine/engine.ts';
import { retrieveRun } from '../retrieve/retrieve.ts';
import type { LineFilter } from './filter.ts';
import { searchLines, type FoundLine } from './search.ts';
import { propertiesOf } from './line.ts';
import { readLines } from './read.ts';

export const wireLine = (line: FoundLine): WireLine => ({
  id: Number(line.id),
  runId: line.run_id,
  taskIdentifier: line.task ?? '',
  attempt: line.attempt,
  at: line.at.toISOString(),
  level: line.level,
  message: line.message,
  properties: propertiesOf(line),
});

/** The filter in a query. */
export const filterOf = (
  query: Partial<
    Pick<
      Request<Operations['searchLogs']>['query'],
      'filter[task]' | 'filter[level]' | 'filter[text]' | 'filter[property]'
    >
  >,
): LineFilter => ({
  tasks: query['filter[task]'],
  levels: query['filter[level]'],
  text: query['filter[text]'],
  property: query['filter[property]'],
});

export function logHandlers(engine: Engine): HandlersOf<OperationsOf<'logs'>> {
  const { sql, clock } = engine;
  return {
    async listRunLogs(request) {
      const { runId } = request.params;
      const run = await retrieveRun(engine, request.environment.id, runId);
      if (!run) throw notFound('Run not found', false, 'run_not_found');
      authorizeRun(request, run);
      const { after, limit, latest } = request.query;
      const { lines, next } = await readLines(sql, request.environment.id, runId, {
        ...filterOf(request.query),
        after,
        limit,
        isLatest: latest === 'true',
      });
      return {
        lines: lines.map((line) => ({
          attempt: line.attempt,
          at: line.at.toISOString(),
          level: line.level,
          message: line.message,
          properties: propertiesOf(line),
        })),
        next,
      };
    },

    async searchLogs({ environment, query }) {
      const periodMs = query['filter[createdAt][period]'];
      const times =
        periodMs === undefined
          ? { from: query['filter[createdAt][from]'], to: query['filter[createdAt][to]'] }
          : { from: new Date(Math.max(0, clock.now() - periodMs)) };
      const { lines, next } = await searchLines(
        sql,
        environment.id,
        { ...filterOf(query), ...times },
        { below: query['page[after]'], limit: query['page[size]'] },
      );
      return { data: lines.map(wireLine), pagination: { next: next?.toString() } };
    },
  };
}
