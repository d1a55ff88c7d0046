import type { Run } from '@millrace/contract';
import type { SerializedError } from '@millrace/contract/runner';

type ShownError = NonNullable<Run['error']>;

/** An error as runs show it: its causes, and theirs, in one list, each before what caused it. */
export function shownError(error: SerializedError): ShownError {
  const causes = causesIn(error);
  return { ...plain(error), ...(causes.length > 0 && { causes }) };
}

const maxCauses = 100;

/** A runner may have written anything there, of any depth. */
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
