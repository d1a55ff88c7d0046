import { list } from './list.ts';
import { retrieve } from './retrieve.ts';
import { trigger, triggerByTask } from './trigger.ts';
import { triggerAndWait, triggerByTaskAndWait } from './trigger-and-wait.ts';

/** Runs that are triggered together. */
export const batch = { trigger, triggerByTask, triggerAndWait, triggerByTaskAndWait, retrieve, list };
