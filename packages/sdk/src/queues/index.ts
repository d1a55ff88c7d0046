import {
  environment,
  overrideConcurrencyLimit,
  resetConcurrencyLimit,
  updateEnvironment,
} from './concurrency.ts';
import { list } from './list.ts';
import { pause, resume } from './pause.ts';
import { overrideRateLimit, resetRateLimit } from './rate-limit.ts';
import { retrieve } from './retrieve.ts';

/** Queues: where runs wait. See how full they are, pause them, limit them. */
export const queues = {
  list,
  retrieve,
  pause,
  resume,
  overrideConcurrencyLimit,
  resetConcurrencyLimit,
  overrideRateLimit,
  resetRateLimit,
  environment,
  updateEnvironment,
};
