import type { Operations, OperationsOf } from '@millrace/contract';
import type { MasterKey } from '../auth/seal.ts';
import { findTarget } from '../auth/target.ts';
import type { Clock } from '../db/clock.ts';
import type { Queryable, Sql } from '../db/connect.ts';
import { Problem } from '../problem.ts';
import type { HandlersOf, Request } from '../request.ts';
import type { Egress } from './check-url.ts';
import { createEndpoint } from './create.ts';
import { listDeliveries, retrieveDelivery } from './deliveries.ts';
import { endpointNotFound, endpointOf, findEndpoint, type EndpointRow } from './endpoint.ts';
import { recordEndpoint } from './record.ts';
import { replayDelivery } from './replay.ts';
import { rotateSecret } from './rotate.ts';
import { sendTest } from './send-test.ts';
import { updateEndpoint } from './update.ts';

export interface NotificationHandlerDependencies {
  readonly sql: Sql;
  readonly masterKey: MasterKey;
  readonly clock: Pick<Clock, 'now'>;
  readonly egress: Egress;
}

export function notificationHandlers({
  sql,
  masterKey,
  clock,
  egress,
}: NotificationHandlerDependencies): HandlersOf<OperationsOf<'notifications'>> {
  const now = () => new Date(clock.now());
  type Addressed = Pick<
    Request<Operations['listNotificationEndpoints']>,
    'params' | 'principal' | 'header' | 'origin'
  >;
  const target = async (request: Addressed): Promise<number> => (await findTarget(sql, request)).id;

  return {
    async createNotificationEndpoint(request) {
      const environment = await findTarget(sql, request);
      return createEndpoint(
        sql,
        masterKey,
        egress,
        { env: environment.id, body: request.body, now: now() },
        recordEndpoint(environment, request),
      );
    },

    async listNotificationEndpoints(request) {
      const rows = await sql<EndpointRow[]>`
        select * from notification_endpoints where env = ${await target(request)} order by created_at, id`;
      return { data: rows.map(endpointOf) };
    },

    retrieveNotificationEndpoint: async (request) =>
      endpointOf(await findEndpoint(sql, await target(request), request.params.endpointId)),

    async updateNotificationEndpoint(request) {
      const { endpointId: id } = request.params;
      const environment = await findTarget(sql, request);
      return updateEndpoint(
        sql,
        masterKey,
        egress,
        { env: environment.id, id, body: request.body, now: now() },
        recordEndpoint(environment, request),
      );
    },

    async deleteNotificationEndpoint(request) {
      const { endpointId: id } = request.params;
      const environment = await findTarget(sql, request);
      return sql.begin(async (tx) => {
        await refuseNamed(tx, environment.id, id);
        const [row] = await tx<EndpointRow[]>`
          delete from notification_endpoints where env = ${environment.id} and id = ${id} returning *`;
        if (!row) throw endpointNotFound();
        await recordEndpoint(environment, request)(tx, 'deleted', row);
        return { id };
      });
    },

    async rotateNotificationSecret(request) {
      const environment = await findTarget(sql, request);
      const { id } = await findEndpoint(sql, environment.id, request.params.endpointId);
      return rotateSecret(
        sql,
        masterKey,
        { env: environment.id, id, now: now() },
        recordEndpoint(environment, request),
      );
    },

    testNotificationEndpoint: async (request) =>
      sendTest(sql, { env: await target(request), id: request.params.endpointId, now: now() }),

    listNotificationDeliveries: async (request) => listDeliveries(sql, await target(request), request.query),

    retrieveNotificationDelivery: async (request) =>
      retrieveDelivery(sql, await target(request), request.params.deliveryId),

    replayNotificationDelivery: async (request) =>
      replayDelivery(sql, { env: await target(request), id: request.params.deliveryId, now: now() }),
  };
}

/** 409 for an endpoint that an alert names, because the alert would have no receiver. */
async function refuseNamed(tx: Queryable, env: number, id: string): Promise<void> {
  if (id.includes('\0')) return;
  const [row] = await tx<{ id: string }[]>`
    select id from alerts where env = ${env} and ${id} = any(endpoints) order by id limit 1`;
  if (row)
    throw new Problem(
      'endpoint_in_use',
      `The alert ${row.id} uses this endpoint: change or delete the alert first.`,
      {},
      false,
    );
}
