import { currentClient } from '../client/current-client.ts';
import { eventId, fromWire, type EventDetail, type EventReference } from './event.ts';

/**
 * Cancels the delivery of an event that is scheduled for later. Throws a ConflictError if it has been delivered, and a NotFoundError for an
 * unknown event.
 *
 * @example
 * await events.cancel('reminder-1');
 */
export const cancel = async (event: EventReference): Promise<EventDetail> =>
  fromWire(await currentClient().call('cancelEvent', { params: { eventId: eventId(event) } }));
