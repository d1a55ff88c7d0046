import type { OperationDeclaration } from '../operation.ts';
import { ignoreError, listErrors, resolveError, retrieveError, unresolveError } from './errors.ts';
import { cancelRun, listRunLogs, retrieveRun } from './runs.ts';
import { triggerMany, triggerTask } from './tasks.ts';
import { registerVersion } from './versions.ts';

/** Every operation of the API. The server refuses to start when one of them has no handler. */
export const operations = {
  triggerTask,
  triggerMany,
  retrieveRun,
  cancelRun,
  listRunLogs,
  listErrors,
  retrieveError,
  resolveError,
  ignoreError,
  unresolveError,
  registerVersion,
} as const satisfies Record<string, OperationDeclaration>;
export type Operations = typeof operations;
