import { currentClient } from '../client/current-client.ts';
import { eventId, fromWire, type EventDetail, type EventReference } from './event.ts';

/**
 * Keeps an event that waits for its time from being delivered. Throws a ConflictError if it has been, a NotFoundError for an unknown
 * one.
 *
 * @example
 * await events.cancel('reminder-1');
 */
export const cancel = async (event: EventReference): Promise<EventDetail> =>
  fromWire(await currentClient().call('cancelEvent', { params: { eventId: eventId(event) } }));
