import type { OperationsOf } from '@millrace/contract';
import { notFound } from '../../problem.ts';
import type { HandlersOf } from '../../request.ts';
import { findRun } from '../access/authorize.ts';
import type { Engine } from '../engine/engine.ts';
import { readSpans } from './read.ts';

export const spanHandlers = ({ sql }: Pick<Engine, 'sql'>): HandlersOf<OperationsOf<'spans'>> => ({
  async listRunSpans(request) {
    const { id } = await findRun(sql, request, notFound('Run not found', false, 'run_not_found'));
    const { spans, dropped, next } = await readSpans(sql, request.environment.id, id, request.query);
    return {
      spans: spans.map(({ at, took, events, attributes, ...span }) => ({
        ...span,
        startedAt: new Date(at / 1_000).toISOString(),
        startedAtUs: at,
        durationUs: took,
        attributes: attributes as Record<string, string>,
        events: events.map((event) => ({
          name: event.name,
          atUs: event.at,
          attributes: event.attributes as Record<string, string> | undefined,
        })),
      })),
      dropped,
      next,
    };
  },
});
