import { create } from './create.ts';
import { del } from './del.ts';
import { list } from './list.ts';
import { retrieve } from './retrieve.ts';
import { update } from './update.ts';

/** Alerts of an environment: new errors, failing tasks, old queues, missed schedules, missing runners. */
export const alerts = { create, list, retrieve, update, del };
