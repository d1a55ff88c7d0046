import { AbortTaskRunError, step, StepError, task } from '@millrace/sdk';
import { ask, type Booking } from './outside.ts';

interface Trip {
  readonly traveler: string;
  readonly to: string;
  readonly price: number;
}

const patient = { maxAttempts: 5, minTimeoutInMs: 50, maxTimeoutInMs: 1_000 };

/** Notifies the traveler. */
export const sendTickets = task({
  id: 'send-tickets',
  run: async ({ traveler, to }: Pick<Trip, 'traveler' | 'to'>) => {
    console.log(`Tickets to ${to} for ${traveler}`);
  },
});

/** Books a flight and a hotel, and then charges the card. If the bank declines, both bookings are canceled. */
export const bookTrip = task({
  id: 'book-trip',
  retry: { maxAttempts: 5, minTimeoutInMs: 100 },
  run: async (trip: Trip) => {
    const { traveler, to, price } = trip;
    const [flight, hotel] = await step.parallel([
      () => step.run('book flight', (how) => ask('/flights', { traveler, to }, how), { retry: patient }),
      () => step.run('book hotel', (how) => ask('/hotels', { traveler, to }, how), { retry: patient }),
    ]);
    let payment: Booking;
    try {
      payment = await step.run('charge', (how) => ask('/charges', { traveler, price }, how), {
        timeout: '30s',
      });
    } catch (error) {
      // Anything but a refusal is tried again, with the next attempt of the run.
      if (!(error instanceof StepError) || (error.cause as Error).name !== 'RefusedError') throw error;
      await step.run('cancel hotel', (how) => ask(`/hotels/${hotel.id}/cancel`, {}, how), { retry: patient });
      await step.run('cancel flight', (how) => ask(`/flights/${flight.id}/cancel`, {}, how), {
        retry: patient,
      });
      throw new AbortTaskRunError(`The trip of ${traveler} was not paid.`, { cause: error });
    }
    await step.trigger('send tickets', sendTickets, { traveler, to });
    return { flight: flight.id, hotel: hotel.id, payment: payment.id };
  },
});
