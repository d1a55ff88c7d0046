import type { FoundLine as WireLine, Operations } from '@millrace/contract';
import type { HandlersOf, Request } from '../../request.ts';
import type { Engine } from '../engine.ts';
import type { LineFilter } from './filter.ts';
import { searchLines, type FoundLine } from './search.ts';
import { propertiesOf } from './line.ts';

type Named = Pick<Operations, 'searchLogs'>;

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

/** The filter that a query asks for. */
export const filterOf = (
  query: Partial<
    Pick<
      Request<Named['searchLogs']>['query'],
      'filter[task]' | 'filter[level]' | 'filter[text]' | 'filter[property]'
    >
  >,
): LineFilter => ({
  tasks: query['filter[task]'],
  levels: query['filter[level]'],
  text: query['filter[text]'],
  property: query['filter[property]'],
});

export function logHandlers({ sql, clock }: Pick<Engine, 'sql' | 'clock'>): HandlersOf<Named> {
  return {
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
