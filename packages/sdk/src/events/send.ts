import { currentClient } from '../client/current-client.ts';
import { asJson } from '../payload/json.ts';
import type { NewEvent, SentEvent } from './event.ts';

// Serialized first, so that an invalid event throws before anything is sent.
const wireOf = ({ id = crypto.randomUUID(), ...event }: NewEvent) => ({
  id,
  event: asJson<Record<string, unknown>>(event, 'event'),
});

/**
 * Sends an event. Resolves when the server has stored it and created its runs. The id makes it safe to send an event again: the first event
 * with an id is the one stored, and a later call resolves with it and `isDuplicate`.
 *
 * Throws an UnserializableError for a value that is not JSON, a ConfigurationError without an address or key, a BadRequestError whose `details`
 * name an invalid field, and an ApiError for any other rejection.
 *
 * @example
 * const { status, runs } = await events.send({ id: `order-${order.id}-paid`, name: 'order.paid', payload: order });
 */
export async function send(event: NewEvent): Promise<SentEvent> {
  return currentClient().call('sendEvent', { body: wireOf(event) });
}

const maxAtOnce = 500;

/**
 * Sends several events and resolves with the result of each, in their order. Events are independent of each other. Up to 500 share a request,
 * which is at most 3 MB. If a request is rejected, the call throws, and none of the events in that request is stored.
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
