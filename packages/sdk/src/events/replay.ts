import { currentClient } from '../client/current-client.ts';
import { eventId, type EventReference, type SentEvent } from './event.ts';

/**
 * Sends an event again, as a new event with `id` (default: a random one), to the tasks that currently subscribe to it. Throws a NotFoundError
 * for an unknown event.
 *
 * @example
 * const { runs } = await events.replay('order-1-paid');
 */
export const replay = async (
  event: EventReference,
  { id = crypto.randomUUID() }: { id?: string } = {},
): Promise<SentEvent> =>
  currentClient().call('replayEvent', { params: { eventId: eventId(event) }, body: { id } });
