import { currentClient } from '../client/current-client.ts';
import { eventId, fromWire, type EventDetail, type EventReference } from './event.ts';

/**
 * An event with what was sent and the runs that it started. Throws a NotFoundError for an unknown one.
 *
 * @example
 * const { status, runs } = await events.retrieve('order-1-paid');
 */
export const retrieve = async (event: EventReference): Promise<EventDetail> =>
  fromWire(await currentClient().call('retrieveEvent', { params: { eventId: eventId(event) } }));
