import { logger, task } from '@millrace/sdk';
import { z } from 'zod';
import { carrierPostcode } from '../lib/postcode.ts';
import { call } from '../lib/service.ts';
import { address } from '../lib/shapes.ts';

const maxKilograms = 31.5;
const notServed = new Set(['AQ', 'KP']);

export const shipOrder = task({
  id: 'ship-order',
  description: 'Checks the address and orders a label from the carrier',
  schema: z.object({
    orderId: z.string(),
    name: z.string(),
    address,
    weight: z.number().positive().describe('Kilograms'),
    shelves: z.record(z.string(), z.string()),
  }),
  queue: { name: 'carrier', concurrencyLimit: 6 },
  retry: { maxAttempts: 2, minTimeoutInMs: 400 },
  run: async ({ orderId, name, address: to, weight }) => {
    if (notServed.has(to.country)) throw new Error(`The carrier does not deliver to ${to.country}`);
    if (weight > maxKilograms)
      throw new RangeError(`The parcel of ${weight} kg is too heavy for the carrier`);
    const { normalised } = await call<{ normalised: string }>(
      'carrier',
      `/addresses?street=${encodeURIComponent(to.street)}&city=${encodeURIComponent(to.city)}`,
      { timeoutInMs: 400 },
    );
    const postcode = carrierPostcode(to.country, to.postcode);
    const { tracking } = await call<{ tracking: string }>('carrier', '/labels', {
      body: { orderId, name, street: normalised, postcode, country: to.country, weight },
    });
    logger.info('Label printed', { orderId, tracking });
    return { tracking };
  },
});
