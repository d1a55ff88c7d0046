import type { Run } from '@millrace/contract';
import type { SerializedError } from '@millrace/contract/runner';

type ErrorResponse = NonNullable<Run['error']>;

/** An error in the format of runs: all its direct and indirect causes in one list, each before its own cause. */
export function errorResponse(error: SerializedError): ErrorResponse {
  const causes = causesIn(error);
  return { ...plain(error), ...(causes.length > 0 && { causes }) };
}

const maxCauses = 100;

/** A runner may have written anything there, at any depth. */
function causesIn(error: SerializedError): ReturnType<typeof plain>[] {
  const found: ReturnType<typeof plain>[] = [];
  const left = partsOf(error);
  for (let cause = left.pop(); cause && found.length < maxCauses; cause = left.pop()) {
    found.push(plain(cause));
    left.push(...partsOf(cause));
  }
  return found;
}

/** The causes of one error, the last first. */
const partsOf = ({ causes }: SerializedError): SerializedError[] =>
  Array.isArray(causes)
    ? causes
        .slice(0, maxCauses)
        .filter((cause): cause is SerializedError => typeof cause === 'object' && cause !== null)
        .toReversed()
    : [];

const plain = ({ message, name, stackTrace, sealed }: SerializedError) => ({
  message,
  name,
  stackTrace: stackTrace === '' ? undefined : stackTrace,
  ...(typeof sealed === 'string' && { sealed }),
});
