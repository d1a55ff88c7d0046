import type { Part } from '../part.ts';
import { environment, retention, runPaths } from './environment.ts';
import { errorRules, errorStates } from './errors.ts';
import { alerts, endpoints } from './notifications.ts';
import { queues, sharedLimits } from './queues.ts';
import { schedules } from './schedules.ts';
import { variables } from './variables.ts';

/** What an export has beside runs, in the order in which it is imported: a pause first, and each thing after what it needs. */
export const parts: readonly Part[] = [
  environment,
  variables,
  queues,
  sharedLimits,
  retention,
  runPaths,
  endpoints,
  alerts,
  errorRules,
  errorStates,
  schedules,
];
