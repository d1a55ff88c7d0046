import { currentClient } from '../client/current-client.ts';
import { asJson } from '../payload/json.ts';
import type { NewEvent, SentEvent } from './event.ts';

// Serialised first, so that invalid events throw before anything is sent.
const wireOf = ({ id = crypto.randomUUID(), ...event }: NewEvent) => ({
  id,
  event: asJson<Record<string, unknown>>(event, 'event'),
});

/**
 * Sends an event. Resolves when the server has stored it and made the runs that it starts. The id makes it safe to send again: of
 * two with one id the first stands, and the second resolves with that one and `isDuplicate`.
 *
 * Throws an UnserializableError for what is no JSON, a ConfigurationError without address or key, a BadRequestError whose `details`
 * name a field that is wrong, an ApiError for what else the server refuses.
 *
 * @example
 * const { status, runs } = await events.send({ id: `order-${order.id}-paid`, name: 'order.paid', payload: order });
 */
export async function send(event: NewEvent): Promise<SentEvent> {
  return currentClient().call('sendEvent', { body: wireOf(event) });
}

const maxAtOnce = 500;

/**
 * Sends several events and resolves with what became of each, in their order. Each stands alone. 500 share a request; a request that is
 * refused throws, and none of its events is stored. At most 3 MB a request.
 *
 * @example
 * await events.sendBatch(orders.map((order) => ({ id: order.id, name: 'order.imported', payload: order })));
 */
export async function sendBatch(batch: readonly NewEvent[]): Promise<SentEvent[]> {
  const client = currentClient();
  const wires = batch.map(wireOf);
  const sent: SentEvent[] = [];
  for (let at = 0; at < wires.length; at += maxAtOnce) {
    const { events } = await client.call('sendEvents', {
      body: { events: wires.slice(at, at + maxAtOnce) },
    });
    sent.push(...events);
  }
  return sent;
}
