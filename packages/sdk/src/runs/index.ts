import { bulk } from './bulk/index.ts';
import { cancel } from './cancel.ts';
import { list } from './list.ts';
import { logs } from './logs.ts';
import { declarePath, listPaths, removePath } from './paths.ts';
import { poll } from './poll.ts';
import { reason } from './reason.ts';
import { replay } from './replay.ts';
import { reschedule } from './reschedule.ts';
import { retrieve } from './retrieve.ts';
import { subscribeToBatch, subscribeToRun, subscribeToRunsWithTag } from './subscribe.ts';

/** Runs: find them, see how they stand and why, watch them, wait for them, stop or repeat them, read what they wrote. */
export const runs = {
  list,
  retrieve,
  poll,
  reason,
  cancel,
  replay,
  reschedule,
  logs,
  bulk,
  declarePath,
  listPaths,
  removePath,
  subscribeToRun,
  subscribeToRunsWithTag,
  subscribeToBatch,
};
