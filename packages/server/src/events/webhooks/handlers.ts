import type { OperationsOf } from '@millrace/contract';
import type { MasterKey } from '../../auth/seal.ts';
import type { HandlersOf } from '../../request.ts';
import { listDeliveries, retrieveDelivery } from './deliveries.ts';
import { listWebhooks } from './list.ts';
import { replayDelivery } from './replay.ts';
import type { Webhooks } from './receive.ts';
import { createReadSecrets } from './secrets.ts';
import { createSendWebhook } from './send.ts';
import type { StoreDependencies } from './store.ts';

export interface WebhookHandlerDependencies extends StoreDependencies {
  readonly masterKey: MasterKey;
  readonly webhooks: Pick<Webhooks, 'receive'>;
}

export function webhookHandlers(
  dependencies: WebhookHandlerDependencies,
): HandlersOf<OperationsOf<'webhooks'>> {
  const { engine, masterKey, webhooks } = dependencies;
  const { sql } = engine;
  const readSecrets = createReadSecrets(sql, masterKey);
  const send = createSendWebhook({ engine, readSecrets, webhooks });
  return {
    listWebhooks: async ({ environment, baseUrl }) => ({
      data: await listWebhooks(engine, readSecrets, { env: environment.id, baseUrl }),
    }),
    sendWebhook: ({ environment, params, body }) => send(environment, params.webhookId, body),
    listWebhookDeliveries: ({ environment, query }) => listDeliveries(sql, environment.id, query),
    retrieveWebhookDelivery: ({ environment, params }) =>
      retrieveDelivery(sql, environment.id, params.webhookDeliveryId),
    replayWebhookDelivery: ({ environment, params, body }) =>
      replayDelivery(dependencies, environment, { id: params.webhookDeliveryId, version: body?.version }),
  };
}
