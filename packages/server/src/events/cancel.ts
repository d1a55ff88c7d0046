import type { EventResponse } from '@millrace/contract';
import type { Engine } from '../runs/engine/engine.ts';
import { Problem } from '../problem.ts';
import { findEvent, retrieveEvent } from './retrieve.ts';
import { statusOf } from './row.ts';

/** Prevents the delivery of an event that is not due yet. A canceled event stays canceled; a delivered one is rejected with 409. */
export async function cancelEvent({ sql, clock }: Engine, env: number, id: string): Promise<EventResponse> {
  await findEvent(sql, env, id);
  const now = new Date(clock.now());
  // Delivery also deletes that row, so only one of the two finds it.
  await sql`
    with gone as (delete from pending_events where env = ${env} and id = ${id} returning env, id)
    update events e set canceled_at = ${now} from gone g where e.env = g.env and e.id = g.id`;
  const row = await findEvent(sql, env, id);
  const status = statusOf(row);
  if (status === 'FAILED')
    throw new Problem(
      'event_delivered',
      'The event could not be delivered and will not be retried.',
      {},
      false,
    );
  if (status !== 'CANCELED') {
    throw new Problem('event_delivered', 'The event has been delivered: cancel its runs instead.', {}, false);
  }
  return retrieveEvent(sql, env, id);
}
