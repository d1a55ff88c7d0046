import type { Environment } from '../../auth/principal.ts';
import { notFound, unprocessable } from '../../problem.ts';
import { insertRuns } from '../../runs/create/insert.ts';
import { deliveryOf, findDelivery } from './deliveries.ts';
import { prepareWebhookRun } from './prepare.ts';
import type { StoreDependencies } from './store.ts';

/** Starts another run with the payload of a delivery, on the current version or on another one. */
export async function replayDelivery(
  { engine, dispatch }: StoreDependencies,
  environment: Environment,
  { id, version }: { readonly id: string; readonly version?: string | undefined },
): Promise<{ id: string; run: string }> {
  const row = await findDelivery(engine.sql, environment.id, id);
  if (row.erased_at !== null) {
    throw unprocessable(
      `The body of delivery ${id} was erased with its runs, so it cannot be replayed.`,
      'run_erased',
    );
  }
  const delivery = deliveryOf(row);
  const run = await prepareWebhookRun(engine, environment, delivery, { version });
  await engine.sql.begin(async (tx) => {
    const { count } = await tx`
      update webhook_deliveries set run_ids = run_ids || ${run.id}::text where env = ${environment.id} and id = ${id}`;
    if (count === 0) throw notFound('Delivery not found');
    await insertRuns({ sql: tx, clock: engine.clock }, [run]);
  });
  dispatch.wake(environment.id);
  return { id, run: run.id };
}
