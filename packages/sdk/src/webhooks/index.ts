import { deliveries } from './deliveries.ts';
import { list } from './list.ts';
import { replay } from './replay.ts';
import { retrieve } from './retrieve.ts';
import { send } from './send.ts';

/** Webhooks of the current version, and the requests that they accepted. */
export const webhooks = { list, deliveries, retrieve, replay, send };
