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

/** The kinds of objects in an export other than runs, in import order: a pause first, and each kind after its dependencies. */
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
