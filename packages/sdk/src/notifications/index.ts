import { listDeliveries, replayDelivery, retrieveDelivery } from './deliveries.ts';
import { createEndpoint, deleteEndpoint, listEndpoints, testEndpoint, updateEndpoint } from './endpoints.ts';

/** Where facts and alerts of an environment are sent, and what became of each message. */
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
