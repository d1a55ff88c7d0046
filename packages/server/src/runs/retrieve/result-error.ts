import type { RunStatus } from '@millrace/contract';
import type { SerializedError } from '@millrace/contract/runner';

/** Error codes by name; published clients accept no other codes. */
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
 * Why an ended run did not complete, in the format of published clients. A thrown value that is not an Error is returned as text in `raw`,
 * and an error of the platform has one of their codes. A run that never threw has its own reason.
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
  const { causes: _, ...fields } = error;
  const causes = chain(error);
  return { ...fields, ...(causes.length > 0 && { causes }) };
}

/**
 * The causes in a format for both kinds of clients. Published clients read a list of texts, each before its cause. The Millrace SDK reads the
 * cause, which comes first and has its own cause, and the members.
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

/** A runner may have written anything there. Published clients reject a reply that has a cause without a message. */
const partsOf = ({ causes }: SerializedError): SerializedError[] =>
  Array.isArray(causes)
    ? (causes as readonly unknown[]).filter(
        (cause): cause is SerializedError =>
          typeof (cause as Partial<SerializedError> | null)?.message === 'string',
      )
    : [];

const codeOf = (name: string | undefined, status: RunStatus): string =>
  codeOfName.get(name ?? '') ?? codeOfStatus[status] ?? 'UNSPECIFIED_ERROR';
