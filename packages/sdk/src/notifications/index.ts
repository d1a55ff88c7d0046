import { listDeliveries, replayDelivery, retrieveDelivery } from './deliveries.ts';
import { createEndpoint, deleteEndpoint, listEndpoints, testEndpoint, updateEndpoint } from './endpoints.ts';

/** Destinations for the notifications and alerts of an environment, and the deliveries to them. */
export const notifications = {
  createEndpoint,
  listEndpoints,
  updateEndpoint,
  deleteEndpoint,
  testEndpoint,
  listDeliveries,
  retrieveDelivery,
  replayDelivery,
};
