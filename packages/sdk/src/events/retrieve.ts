import { currentClient } from '../client/current-client.ts';
import { eventId, fromWire, type EventDetail, type EventReference } from './event.ts';

/**
 * An event with its payload and the runs that it triggered. Throws a NotFoundError for an unknown event.
 *
 * @example
 * const { status, runs } = await events.retrieve('order-1-paid');
 */
export const retrieve = async (event: EventReference): Promise<EventDetail> =>
  fromWire(await currentClient().call('retrieveEvent', { params: { eventId: eventId(event) } }));
