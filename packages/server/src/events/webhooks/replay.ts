import type { Environment } from '../../auth/principal.ts';
import { makeRuns } from '../plan.ts';
import { notFound } from '../../problem.ts';
import { prepareRun } from '../../runs/create/prepare.ts';
import { deliveryOf, findDelivery } from './deliveries.ts';
import { payloadOf } from './delivery.ts';
import type { StoreDependencies } from './store.ts';

/** Starts another run with the payload of a delivery, on the current version or on another one. */
export async function replayDelivery(
  { engine, dispatch }: StoreDependencies,
  environment: Environment,
  { id, version }: { readonly id: string; readonly version?: string | undefined },
): Promise<{ id: string; run: string }> {
  const delivery = deliveryOf(await findDelivery(engine.sql, environment.id, id));
  const prepared = await prepareRun(engine, environment, delivery.webhook, {
    payload: payloadOf(delivery),
    ...(version !== undefined && { options: { lockToVersion: version } }),
  });
  const run = await engine.sql.begin(async (tx) => {
    const created = await makeRuns(tx, engine, [prepared]);
    const runId = created.get(prepared.id) ?? prepared.id;
    const { count } = await tx`
      update webhook_deliveries set run_ids = run_ids || ${runId}::text where env = ${environment.id} and id = ${id}`;
    if (count === 0) throw notFound('Delivery not found');
    return runId;
  });
  dispatch.wake(environment.id);
  return { id, run };
}
