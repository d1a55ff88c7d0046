import type { OperationsOf } from '@millrace/contract';
import type { Clock } from '../db/clock.ts';
import type { Sql } from '../db/connect.ts';
import { notFound } from '../problem.ts';
import type { HandlersOf } from '../request.ts';
import { listHistory } from './life/history.ts';
import { ignoreErrorGroup } from './life/ignore.ts';
import { listErrorGroups } from './list/list.ts';
import { listFingerprints } from './merge/fingerprints.ts';
import { mergeErrorGroups } from './merge/merge.ts';
import { splitErrorGroup } from './merge/split.ts';
import { resolveErrorGroup } from './life/resolve.ts';
import { isErrorId, retrieveErrorGroup } from './list/retrieve.ts';
import { listErrorVersions } from './list/versions.ts';
import { ownershipHandlers } from './ownership/handlers.ts';
import { found, shownTo } from './list/redact.ts';
import { ruleHandlers } from './rules/handlers.ts';
import { retrieveWithTrend } from './list/trend.ts';
import { unresolveErrorGroup } from './life/unresolve.ts';

export function errorHandlers(
  sql: Sql,
  clock: Pick<Clock, 'now'>,
): HandlersOf<OperationsOf<'errors' | 'errorsAssign' | 'errorsVersions' | 'errorRules'>> {
  const now = () => new Date(clock.now());
  return {
    ...ruleHandlers(sql, clock),
    ...ownershipHandlers(sql, now),

    async listErrors({ environment, principal, query }) {
      const page = await listErrorGroups(sql, { env: environment.id, query, now: now() });
      return { ...page, data: page.data.map((group) => shownTo(principal, group)) };
    },

    async retrieveError({ environment, principal, params: { errorId }, query }) {
      const group =
        query.trend === undefined
          ? await retrieveErrorGroup(sql, environment.id, errorId, now())
          : await retrieveWithTrend(sql, environment.id, errorId, query.trend, now());
      if (!group) throw notFound();
      return shownTo(principal, group);
    },

    async resolveError({ environment, principal, params: { errorId }, body }) {
      const change = { env: environment.id, id: errorId, now, principal };
      return found(principal, await resolveErrorGroup(sql, { ...change, version: body.resolvedInVersion }));
    },

    async ignoreError({ environment, principal, params: { errorId }, body }) {
      const change = { env: environment.id, id: errorId, now, principal };
      return found(principal, await ignoreErrorGroup(sql, { ...change, limits: body }));
    },

    async listErrorFingerprints({ environment, params: { errorId } }) {
      const data = await listFingerprints(sql, environment.id, errorId);
      if (!data) throw notFound();
      return { data };
    },

    async listErrorVersions({ environment, params: { errorId } }) {
      const versions = await listErrorVersions(sql, environment.id, errorId);
      if (!versions) throw notFound();
      return versions;
    },

    async listErrorHistory({ environment, params: { errorId }, query }) {
      const history = await listHistory(sql, environment.id, errorId, query);
      if (!history) throw notFound();
      return history;
    },

    async mergeErrors(request) {
      const { environment, principal, params, body } = request;
      // A key that may write only one group must not merge others into it.
      for (const id of body.errors) if (isErrorId(id)) request.authorize([{ type: 'errors', id }]);
      const change = { env: environment.id, id: params.errorId, now, principal };
      return found(principal, await mergeErrorGroups(sql, { ...change, errors: body.errors }));
    },

    async splitError({ environment, principal, params, body }) {
      const change = { env: environment.id, id: params.errorId, now, principal };
      return found(principal, await splitErrorGroup(sql, { ...change, fingerprints: body.fingerprints }));
    },

    async unresolveError({ environment, principal, params: { errorId } }) {
      return found(
        principal,
        await unresolveErrorGroup(sql, { env: environment.id, id: errorId, now, principal }),
      );
    },
  };
}
