import type { OperationsOf } from '@millrace/contract';
import { badRequest, notFound } from '../../problem.ts';
import type { HandlersOf } from '../../request.ts';
import { findRun } from '../access/authorize.ts';
import type { Engine } from '../engine/engine.ts';
import { deletePrice, listPrices, setPrice } from './change-prices.ts';
import { dayMs, modelRetentionDays, readRunUsage, readUsage, readUsageBy } from './usage.ts';

export function modelHandlers({
  sql,
  clock,
}: Pick<Engine, 'sql' | 'clock'>): HandlersOf<OperationsOf<'models' | 'modelPrices'>> {
  return {
    async retrieveRunModels(request) {
      const { id } = await findRun(sql, request, notFound('Run not found', false, 'run_not_found'));
      return readRunUsage(sql, request.environment.id, id);
    },

    async retrieveModelUsage({ environment, query }) {
      const { by, limit, task, tag, model } = query;
      const filter = { ...daysOf(query, clock.now()), task, tag, model };
      const [usage, groups] = await Promise.all([
        readUsage(sql, environment.id, filter),
        by === undefined ? [] : readUsageBy(sql, environment.id, filter, by, limit),
      ]);
      return { from: filter.from.toISOString(), to: filter.to.toISOString(), ...usage, groups };
    },

    listModelPrices: ({ params: { projectRef } }) => listPrices(sql, projectRef),

    setModelPrice: (request) =>
      setPrice(
        sql,
        { projectRef: request.params.projectRef, now: new Date(clock.now()), by: request },
        request.body,
      ),

    async deleteModelPrice(request) {
      const { projectRef, model } = request.params;
      await deletePrice(sql, { projectRef, by: request }, model);
      return { model };
    },
  };
}

interface RequestedDays {
  readonly period?: number | undefined;
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
}

/** The UTC days that a range touches. */
function daysOf({ period, from, to }: RequestedDays, now: number): { from: Date; to: Date } {
  const end = Math.min(now, period === undefined ? (to?.getTime() ?? now) : now);
  const begin = period === undefined ? (from?.getTime() ?? end - 30 * dayMs) : now - period;
  if (begin >= end) throw badRequest('from: must be before `to`, and in the past.');
  if (now - begin > (modelRetentionDays + 1) * dayMs) {
    throw badRequest(
      `${period === undefined ? 'from' : 'period'}: usage is retained for ${modelRetentionDays} days. Use a shorter range.`,
    );
  }
  return {
    from: new Date(Math.floor(begin / dayMs) * dayMs),
    to: new Date(Math.ceil(end / dayMs) * dayMs),
  };
}
