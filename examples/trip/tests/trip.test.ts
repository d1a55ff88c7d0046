import { useMillrace } from '@millrace/testing/vitest';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startServices } from '../services.ts';
import { bookTrip, sendTickets } from '../tasks/trip.ts';

const kit = useMillrace({ tasks: [bookTrip, sendTickets] });

// Only the external services are simulated.
let services: Awaited<ReturnType<typeof startServices>>;
beforeAll(async () => {
  services = await startServices({ port: 0 });
  process.env['TRIP_SERVICES'] = services.url;
});
afterAll(() => services.close());

/** The requests that the services executed for a traveler. */
const done = (traveler: string) =>
  services.deeds.flatMap((deed) => (deed.traveler === traveler ? [deed.path] : [])).toSorted();

test('a trip is booked and paid, and the tickets are sent', async () => {
  await bookTrip.trigger({ traveler: 'rich Ada', to: 'Oslo', price: 100 });
  expect(await kit.drain()).toEqual([]);
  expect(done('rich Ada')).toEqual(['/charges', '/flights', '/hotels']);
  await expect(bookTrip).toHaveTriggered(sendTickets, { traveler: 'rich Ada', to: 'Oslo' });
});

test('a process that dies after it has paid does not pay twice', async () => {
  kit.faults.crashAfter('charge');
  await bookTrip.trigger({ traveler: 'rich Bob', to: 'Oslo', price: 100 });
  await kit.drain();
  await expect(bookTrip).toHaveCompleted();
  expect(done('rich Bob')).toEqual(['/charges', '/flights', '/hotels']);
  expect(services.repeated()).toBe(1);
});

test('bookings are canceled when the bank declines', async () => {
  await bookTrip.trigger({ traveler: 'poor Eve', to: 'Oslo', price: 100 });
  await kit.drain();
  await expect(bookTrip).toHaveFailed('was not paid');
  await expect(bookTrip).not.toHaveTriggered(sendTickets);
});
