import type { Part } from '../part.ts';
import { environment, retention, runPaths } from './environment.ts';
import { errorMerges } from './error-merges.ts';
import { errorRules } from './error-rules.ts';
import { errorStates } from './errors.ts';
import { keyWeights } from './key-weights.ts';
import { alerts, endpoints } from './notifications.ts';
import { queues } from './queues.ts';
import { schedules } from './schedules.ts';
import { sharedLimits } from './shared-limits.ts';
import { variables } from './variables.ts';

/** What an export has beside runs, in the order in which it is imported: a pause first, and each thing after what it needs. */
export const parts: readonly Part[] = [
  environment,
  variables,
  queues,
  keyWeights,
  sharedLimits,
  retention,
  runPaths,
  endpoints,
  alerts,
  errorRules,
  errorMerges,
  errorStates,
  schedules,
];
