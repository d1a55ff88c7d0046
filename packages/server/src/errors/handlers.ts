import type { ErrorGroupDetail, Operations } from '@millrace/contract';
import type { Clock } from '../db/clock.ts';
import type { Sql } from '../db/connect.ts';
import { notFound } from '../problem.ts';
import type { HandlersOf } from '../request.ts';
import { ignoreErrorGroup } from './ignore.ts';
import { listErrorGroups } from './list.ts';
import { resolveErrorGroup } from './resolve.ts';
import { retrieveErrorGroup } from './retrieve.ts';
import { trendOf } from './trend.ts';
import { unresolveErrorGroup } from './unresolve.ts';

type Named = Pick<
  Operations,
  'listErrors' | 'retrieveError' | 'resolveError' | 'ignoreError' | 'unresolveError'
>;

export function errorHandlers(sql: Sql, clock: Pick<Clock, 'now'>): HandlersOf<Named> {
  const now = () => new Date(clock.now());
  return {
    listErrors: ({ environment, query }) => listErrorGroups(sql, { env: environment.id, query, now: now() }),

    async retrieveError({ environment, params: { errorId }, query }) {
      const at = now();
      const group = await retrieveErrorGroup(sql, environment.id, errorId, at);
      if (!group) throw notFound();
      if (query.trend === undefined) return group;
      return { ...group, trend: await trendOf(sql, environment.id, errorId, query.trend, at) };
    },

    async resolveError({ environment, principal, params: { errorId }, body }) {
      const change = { env: environment.id, id: errorId, now: now(), principal };
      return found(await resolveErrorGroup(sql, { ...change, version: body.resolvedInVersion }));
    },

    async ignoreError({ environment, principal, params: { errorId }, body }) {
      const change = { env: environment.id, id: errorId, now: now(), principal };
      return found(await ignoreErrorGroup(sql, { ...change, limits: body }));
    },

    async unresolveError({ environment, principal, params: { errorId } }) {
      return found(
        await unresolveErrorGroup(sql, { env: environment.id, id: errorId, now: now(), principal }),
      );
    },
  };
}

function found(group: ErrorGroupDetail | undefined): ErrorGroupDetail {
  if (!group) throw notFound('Resource not found');
  return group;
}
