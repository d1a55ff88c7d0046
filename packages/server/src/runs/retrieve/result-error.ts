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
  if (error.type !== 'BUILT_IN_ERROR') return { ...error, raw: error.message };
  const { causes: _, ...shown } = error;
  const causes = chain(error);
  return { ...shown, ...(causes.length > 0 && { causes }) };
}

/**
 * Its causes for both kinds of clients. Published clients read a list of texts, each before its cause. Our SDK reads the cause, which comes
 * first and has its own, and the members.
 */
function chain(error: SerializedError): SerializedError[] {
  const causes: SerializedError[] = [];
  for (let cause = causeOf(error); cause && causes.length < maxChain; cause = causeOf(cause))
    causes.push(cause);
  return [...causes, ...partsOf(error).filter(({ isMember }) => isMember === true)];
}

const maxChain = 10;
const causeOf = (error: SerializedError): SerializedError | undefined =>
  partsOf(error).find(({ isMember }) => isMember !== true);

/** A runner may have written anything there. Published clients refuse a reply with a cause that has no message. */
const partsOf = ({ causes }: SerializedError): SerializedError[] =>
  Array.isArray(causes)
    ? (causes as readonly unknown[]).filter(
        (cause): cause is SerializedError =>
          typeof (cause as Partial<SerializedError> | null)?.message === 'string',
      )
    : [];

const codeOf = (name: string | undefined, status: RunStatus): string =>
  codeOfName.get(name ?? '') ?? codeOfStatus[status] ?? 'UNSPECIFIED_ERROR';
