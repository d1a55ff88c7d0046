import {
  environment,
  overrideConcurrencyLimit,
  resetConcurrencyLimit,
  updateEnvironment,
} from './concurrency.ts';
import { setKeyWeight } from './key-weight.ts';
import { keyWeights } from './key-weights.ts';
import { list } from './list.ts';
import { pause, resume } from './pause.ts';
import { overrideRateLimit, resetRateLimit } from './rate-limit.ts';
import { retrieve } from './retrieve.ts';
import { overrideSharedLimit, resetSharedLimit, sharedLimits } from './shared-limits.ts';

/** Queues, where runs wait: inspect, pause and limit them. */
export const queues = {
  list,
  retrieve,
  pause,
  resume,
  overrideConcurrencyLimit,
  resetConcurrencyLimit,
  overrideRateLimit,
  resetRateLimit,
  setKeyWeight,
  keyWeights,
  sharedLimits,
  overrideSharedLimit,
  resetSharedLimit,
  environment,
  updateEnvironment,
};
