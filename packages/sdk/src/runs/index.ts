import { attempts } from './attempts.ts';
import { bulk } from './bulk/index.ts';
import { cancel } from './cancel.ts';
import { count } from './count.ts';
import { list } from './list.ts';
import { followLogs } from '../logs/follow.ts';
import { logs } from './logs.ts';
import { declarePath, listPaths, removePath } from './paths.ts';
import { spans } from './spans.ts';
import { poll } from './poll.ts';
import { reason } from './reason.ts';
import { replay } from './replay.ts';
import { reschedule } from './reschedule.ts';
import { retrieve } from './retrieve.ts';
import { timeline } from './timeline.ts';
import { steps } from './steps.ts';
import { subscribeToBatch, subscribeToRun, subscribeToRunsWithTag } from './subscribe.ts';

/** Runs: find, inspect, watch, await, cancel and replay them, and read their logs. */
export const runs = {
  list,
  count,
  retrieve,
  poll,
  reason,
  attempts,
  timeline,
  steps,
  cancel,
  replay,
  reschedule,
  logs,
  followLogs,
  spans,
  bulk,
  declarePath,
  listPaths,
  removePath,
  subscribeToRun,
  subscribeToRunsWithTag,
  subscribeToBatch,
};
