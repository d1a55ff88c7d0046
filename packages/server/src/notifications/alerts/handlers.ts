import type { Operations, OperationsOf } from '@millrace/contract';
import { findTarget } from '../../auth/target.ts';
import type { Clock } from '../../db/clock.ts';
import type { Sql } from '../../db/connect.ts';
import type { HandlersOf, Request } from '../../request.ts';
import { alertNotFound, alertOf, findAlert, type AlertRow } from './alert.ts';
import { createAlert } from './create.ts';
import { recordAlert } from './record.ts';
import { updateAlert } from './update.ts';

export interface AlertHandlerDependencies {
  readonly sql: Sql;
  readonly clock: Pick<Clock, 'now'>;
}

export function alertHandlers({ sql, clock }: AlertHandlerDependencies): HandlersOf<OperationsOf<'alerts'>> {
  const now = () => new Date(clock.now());
  type Addressed = Pick<Request<Operations['listAlerts']>, 'params' | 'principal' | 'header' | 'origin'>;
  const target = async (request: Addressed): Promise<number> => (await findTarget(sql, request)).id;

  return {
    async createAlert(request) {
      const environment = await findTarget(sql, request);
      const created = { env: environment.id, body: request.body, now: now() };
      return createAlert(sql, created, recordAlert(environment, request));
    },

    async listAlerts(request) {
      const rows = await sql<AlertRow[]>`
        select * from alerts where env = ${await target(request)} order by created_at, id`;
      return { data: rows.map(alertOf) };
    },

    async retrieveAlert(request) {
      const row = await findAlert(sql, await target(request), request.params.alertId);
      const subjects = await sql<{ subject: string; since: Date; value: number; notified: boolean }[]>`
        select subject, since, value, notified from alert_subjects
         where alert_id = ${row.id} and cleared_at is null order by since, subject`;
      return {
        ...alertOf(row),
        subjects: subjects.map((each) => ({ ...each, since: each.since.toISOString() })),
      };
    },

    async updateAlert(request) {
      const environment = await findTarget(sql, request);
      const change = { env: environment.id, id: request.params.alertId, body: request.body, now: now() };
      return updateAlert(sql, change, recordAlert(environment, request));
    },

    async deleteAlert(request) {
      const { alertId: id } = request.params;
      const environment = await findTarget(sql, request);
      await findAlert(sql, environment.id, id);
      return sql.begin(async (tx) => {
        const [row] = await tx<AlertRow[]>`
          delete from alerts where env = ${environment.id} and id = ${id} returning *`;
        if (!row) throw alertNotFound();
        await recordAlert(environment, request)(tx, 'deleted', row);
        return { id };
      });
    },
  };
}
