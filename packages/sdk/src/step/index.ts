import { parallel } from './parallel.ts';
import { run } from './run.ts';
import { sleep } from './sleep.ts';
import { trigger, triggerAndWait } from './trigger.ts';
import { waitForEvent } from './wait-for-event.ts';

/** Steps in task code: each runs once per run, even if the process dies. See docs/steps.md. */
export const step = { run, sleep, waitForEvent, trigger, triggerAndWait, parallel };
