import type { Operations } from '@millrace/contract';
import type { MasterKey } from '../auth/seal.ts';
import type { Clock } from '../db/clock.ts';
import type { Sql } from '../db/connect.ts';
import type { HandlersOf, Request } from '../request.ts';
import type { Reach } from './allowed.ts';
import { createEndpoint } from './create.ts';
import { listDeliveries, retrieveDelivery } from './deliveries.ts';
import { endpointNotFound, endpointOf, findEndpoint, type EndpointRow } from './endpoint.ts';
import { replayDelivery } from './replay.ts';
import { rotateSecret } from './rotate.ts';
import { findTarget } from './target.ts';
import { updateEndpoint } from './update.ts';

type Named = Pick<
  Operations,
  | 'createNotificationEndpoint'
  | 'listNotificationEndpoints'
  | 'retrieveNotificationEndpoint'
  | 'updateNotificationEndpoint'
  | 'deleteNotificationEndpoint'
  | 'rotateNotificationSecret'
  | 'listNotificationDeliveries'
  | 'retrieveNotificationDelivery'
  | 'replayNotificationDelivery'
>;

export interface NotificationHandlerDependencies {
  readonly sql: Sql;
  readonly masterKey: MasterKey;
  readonly clock: Pick<Clock, 'now'>;
  readonly reach: Reach;
}

export function notificationHandlers({
  sql,
  masterKey,
  clock,
  reach,
}: NotificationHandlerDependencies): HandlersOf<Named> {
  const now = () => new Date(clock.now());
  type Addressed = Pick<Request<Named['listNotificationEndpoints']>, 'params' | 'principal' | 'header'>;
  const target = async (request: Addressed): Promise<number> => {
    const branch = request.header('x-service-branch') ?? request.header('x-trigger-branch');
    return (await findTarget(sql, request.principal, { ...request.params, branch })).id;
  };

  return {
    createNotificationEndpoint: async (request) =>
      createEndpoint(sql, masterKey, reach, { env: await target(request), body: request.body, now: now() }),

    async listNotificationEndpoints(request) {
      const rows = await sql<EndpointRow[]>`
        select * from notification_endpoints where env = ${await target(request)} order by created_at, id`;
      return { data: rows.map(endpointOf) };
    },

    retrieveNotificationEndpoint: async (request) =>
      endpointOf(await findEndpoint(sql, await target(request), request.params.endpointId)),

    async updateNotificationEndpoint(request) {
      const { endpointId: id } = request.params;
      return updateEndpoint(sql, reach, { env: await target(request), id, body: request.body, now: now() });
    },

    async deleteNotificationEndpoint(request) {
      const { endpointId: id } = request.params;
      const env = await target(request);
      await findEndpoint(sql, env, id);
      const { count } = await sql`delete from notification_endpoints where env = ${env} and id = ${id}`;
      if (count === 0) throw endpointNotFound();
      return { id };
    },

    async rotateNotificationSecret(request) {
      const env = await target(request);
      const { id } = await findEndpoint(sql, env, request.params.endpointId);
      return rotateSecret(sql, masterKey, { env, id, now: now() });
    },

    listNotificationDeliveries: async (request) => listDeliveries(sql, await target(request), request.query),

    retrieveNotificationDelivery: async (request) =>
      retrieveDelivery(sql, await target(request), request.params.deliveryId),

    replayNotificationDelivery: async (request) =>
      replayDelivery(sql, { env: await target(request), id: request.params.deliveryId, now: now() }),
  };
}
