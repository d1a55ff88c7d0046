import { hookRegistration } from '../hooks/index.ts';
import { batchTrigger } from './batch-trigger.ts';
import { batchTriggerAndWait } from './batch-trigger-and-wait.ts';
import { list, retrieve } from './list.ts';
import { trigger } from './trigger.ts';
import { triggerAndWait } from './trigger-and-wait.ts';

/** Tasks by their ids, and hooks for all of them. */
export const tasks = {
  trigger,
  batchTrigger,
  triggerAndWait,
  batchTriggerAndWait,
  list,
  retrieve,
  ...hookRegistration,
};
