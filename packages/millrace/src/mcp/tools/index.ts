import type { Tool } from '../tool.ts';
import { listQueues, listSchedules, listTasks, readStatistics, readTask } from './catalogue.ts';
import { cancelRun, replayRun, resolveError, triggerTask } from './changes.ts';
import { listErrors, readError } from './errors.ts';
import { readLogs } from './logs.ts';
import { explainRun, listRuns, watchRun } from './runs.ts';

export const tools: readonly Tool[] = [
  listRuns,
  explainRun,
  watchRun,
  readLogs,
  listErrors,
  readError,
  listTasks,
  readTask,
  listQueues,
  listSchedules,
  readStatistics,
  triggerTask,
  replayRun,
  cancelRun,
  resolveError,
];
