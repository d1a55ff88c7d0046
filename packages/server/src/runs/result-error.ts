import type { RunStatus } from '@millrace/contract';
import type { SerializedError } from '@millrace/contract/runner';

/** By their names; published clients take no other codes. */
const codeOfName = new Map([
  ['PayloadParseError', 'TASK_INPUT_ERROR'],
  ['PayloadValidationError', 'TASK_INPUT_ERROR'],
  ['PayloadTooLarge', 'PAYLOAD_TOO_LARGE'],
  ['OutputTooLargeError', 'TASK_OUTPUT_ERROR'],
  ['OutputUnserializableError', 'TASK_OUTPUT_ERROR'],
  ['MaxDurationExceeded', 'MAX_DURATION_EXCEEDED'],
  ['OutOfMemory', 'TASK_PROCESS_OOM_KILLED'],
  ['ProcessExit', 'TASK_PROCESS_EXITED_WITH_NON_ZERO_CODE'],
  ['RunnerLost', 'TASK_RUN_STALLED_EXECUTING'],
]);

const codeOfStatus: Partial<Record<RunStatus, string>> = {
  CANCELED: 'TASK_RUN_CANCELLED',
  FAILED: 'TASK_EXECUTION_FAILED',
  CRASHED: 'TASK_RUN_CRASHED',
  TIMED_OUT: 'MAX_DURATION_EXCEEDED',
};

/**
 * Why a run that is over did not complete, as published clients read it: what was thrown and is no Error has its text as `raw`, the
 * platform's own word has one of their codes. A run that never threw ended for a reason of its own.
 */
export function resultError(
  error: SerializedError | null,
  status: RunStatus,
): { type: string; [more: string]: unknown } {
  if (error === null) {
    return { type: 'INTERNAL_ERROR', code: codeOf(undefined, status), message: `The run is ${status}.` };
  }
  if (error.type === 'INTERNAL_ERROR') return { ...error, code: codeOf(error.name, status) };
  return error.type === 'BUILT_IN_ERROR' ? { ...error } : { ...error, raw: error.message };
}

const codeOf = (name: string | undefined, status: RunStatus): string =>
  codeOfName.get(name ?? '') ?? codeOfStatus[status] ?? 'UNSPECIFIED_ERROR';
