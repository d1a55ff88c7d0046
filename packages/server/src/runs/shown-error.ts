import type { Run } from '@millrace/contract';
import type { SerializedError } from '@millrace/contract/runner';

type ShownError = NonNullable<Run['error']>;

/** An error as runs show it: its causes, and theirs, in one list, each before what caused it. */
export function shownError(error: SerializedError): ShownError {
  const causes = causesIn(error);
  return { ...plain(error), ...(causes.length > 0 && { causes }) };
}

/** A runner may have written anything there. */
const causesIn = ({ causes }: SerializedError): ReturnType<typeof plain>[] =>
  Array.isArray(causes)
    ? causes
        .filter((cause) => typeof cause === 'object' && cause !== null)
        .flatMap((cause: SerializedError) => [plain(cause), ...causesIn(cause)])
    : [];

const plain = ({ message, name, stackTrace }: SerializedError) => ({
  message,
  name,
  stackTrace: stackTrace === '' ? undefined : stackTrace,
});
