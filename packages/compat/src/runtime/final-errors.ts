/** The registered symbol with which an error of our SDK prevents further attempts. */
const abort = Symbol.for('@millrace/sdk/abort-task-run');

/** Errors are recognized by name, because each copy of the package has separate classes. */
export const isNamed = (thrown: unknown, name: string): thrown is Error =>
  thrown instanceof Error && thrown.name === name;

/** Rejections of the API that another attempt would receive again. */
function isRefusal(thrown: unknown): boolean {
  const { status } = thrown as { status?: unknown };
  return (
    isNamed(thrown, 'TriggerApiError') &&
    typeof status === 'number' &&
    status >= 400 &&
    status < 500 &&
    status !== 408 &&
    status !== 429
  );
}

/** The thrown value, marked if the published SDK's rules do not allow another attempt. */
export function fail(thrown: unknown, isLast: boolean): unknown {
  const isFinal =
    isLast ||
    isNamed(thrown, 'AbortTaskRunError') ||
    isNamed(thrown, 'TaskPayloadParsedError') ||
    (isNamed(thrown, 'TriggerInternalError') &&
      (thrown as { skipRetrying?: unknown }).skipRetrying === true) ||
    isRefusal(thrown);
  if (!isFinal) return thrown;
  // Primitives and frozen objects cannot be marked.
  const error =
    typeof thrown === 'object' && thrown !== null && Object.isExtensible(thrown)
      ? thrown
      : Object.assign(new Error(String(thrown)), { cause: thrown });
  Object.defineProperty(error, abort, { value: true, enumerable: false, configurable: true });
  return error;
}
