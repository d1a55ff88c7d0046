import type { Environment } from '../../auth/principal.ts';
import { prepareRun } from '../../runs/create/prepare.ts';
import type { NewRun } from '../../runs/create/row.ts';
import type { Engine } from '../../runs/engine/engine.ts';
import { payloadOf, type Delivery } from './delivery.ts';

/** A run of a delivery. It is a run of its own: a singleton or a batch of the task would drop requests that were accepted. */
export async function prepareWebhookRun(
  engine: Engine,
  environment: Environment,
  delivery: Delivery,
  { json, version }: { readonly json?: () => unknown; readonly version?: string | undefined } = {},
): Promise<NewRun> {
  const body = {
    payload: payloadOf(delivery, json),
    ...(version !== undefined && { options: { lockToVersion: version } }),
  };
  const run = await prepareRun(engine, environment, delivery.webhook, body, { isWhole: true });
  return { ...run, singleton: undefined };
}
