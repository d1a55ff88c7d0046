import { maxCharts, type OperationsOf } from '@millrace/contract';
import { recordHere } from '../../audit/record.ts';
import { findTarget } from '../../auth/target.ts';
import type { Clock } from '../../db/clock.ts';
import type { Queryable, Sql } from '../../db/connect.ts';
import { newId } from '../../db/ids.ts';
import { notFound, unprocessable } from '../../problem.ts';
import type { HandlersOf } from '../../request.ts';
import { chartOf, checkChart, settingsOf, type ChartRow, type ChartSettings } from './chart.ts';

export function chartHandlers(sql: Sql, clock: Pick<Clock, 'now'>): HandlersOf<OperationsOf<'charts'>> {
  const now = () => new Date(clock.now());

  return {
    async listCharts(request) {
      const { id: env } = await findTarget(sql, request);
      const rows = await sql<ChartRow[]>`select * from charts where env = ${env} order by created_at, id`;
      return { data: rows.map(chartOf) };
    },

    async createChart(request) {
      const environment = await findTarget(sql, request);
      const { body } = request;
      checkChart(body);
      return sql.begin(async (tx) => {
        await refuseMore(tx, environment.id);
        const [row] = await tx<ChartRow[]>`
          insert into charts (id, env, name, measure, division, task, queue, version, period, form, pinned, created_at, updated_at)
          values (${newId('chart')}, ${environment.id}, ${body.name}, ${body.measure}, ${body.by}, ${body.task}, ${body.queue},
                  ${body.version}, ${body.period}, ${body.form}, ${body.isPinned}, ${now()}, ${now()})
          returning *`;
        const created = row as ChartRow;
        await recordHere(environment, request)(tx, {
          act: 'chart.created',
          target: created.id,
          new: settingsOf(created),
        });
        return chartOf(created);
      });
    },

    async updateChart(request) {
      const environment = await findTarget(sql, request);
      const { chartId: id } = request.params;
      return sql.begin(async (tx) => {
        const [old] = await tx<ChartRow[]>`
          select * from charts where env = ${environment.id} and id = ${id} for no key update`;
        if (!old) throw chartNotFound();
        const settings = { ...settingsOf(old), ...(request.body as Partial<ChartSettings>) };
        checkChart(settings);
        const [row] = await tx<ChartRow[]>`
          update charts set name = ${settings.name}, measure = ${settings.measure}, division = ${settings.by}, task = ${settings.task},
                 queue = ${settings.queue}, version = ${settings.version}, period = ${settings.period}, form = ${settings.form},
                 pinned = ${settings.isPinned}, updated_at = ${now()}
           where id = ${id} returning *`;
        await recordHere(environment, request)(tx, {
          act: 'chart.updated',
          target: id,
          old: settingsOf(old),
          new: settings,
        });
        return chartOf(row as ChartRow);
      });
    },

    async deleteChart(request) {
      const environment = await findTarget(sql, request);
      const { chartId: id } = request.params;
      return sql.begin(async (tx) => {
        const [row] = await tx<ChartRow[]>`
          delete from charts where env = ${environment.id} and id = ${id} returning *`;
        if (!row) throw chartNotFound();
        await recordHere(environment, request)(tx, {
          act: 'chart.deleted',
          target: id,
          old: settingsOf(row),
        });
        return { id };
      });
    },
  };
}

const chartNotFound = () => notFound('Chart not found');

/** Locks the environment, so that requests at the same time do not exceed the limit. */
async function refuseMore(tx: Queryable, env: number): Promise<void> {
  await tx`select from environments where id = ${env} for no key update`;
  const [row] = await tx<{ count: number }[]>`select count(*)::int as count from charts where env = ${env}`;
  if ((row?.count ?? 0) < maxCharts) return;
  throw unprocessable(
    `An environment has at most ${maxCharts} charts; delete an unused one.`,
    'limit_reached',
  );
}
