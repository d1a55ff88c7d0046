import { activate, deactivate } from './activate.ts';
import { backfill } from './backfill.ts';
import { create } from './create.ts';
import { del } from './del.ts';
import { list } from './list.ts';
import { preview } from './preview.ts';
import { retrieve } from './retrieve.ts';
import { task } from './task.ts';
import { ticks } from './ticks.ts';
import { timezones } from './timezones.ts';
import { update } from './update.ts';

/** Schedules: tasks that run at the times of a cron expression. */
export const schedules = {
  task,
  create,
  list,
  retrieve,
  update,
  activate,
  deactivate,
  del,
  preview,
  ticks,
  backfill,
  timezones,
};
