/** Maximum number of inspected frames of the code that awaits a step. Deeper code is treated as if it also awaited something else. */
const maxFrames = 200;

/** The name of `callTaskOfMillrace`. A bundler adds a number if several modules use the name. */
const root = /^callTaskOfMillrace\d*$/;

/**
 * Calls the code of a task. The asynchronous stack of a step that the code awaits ends at this function, regardless of which copy of this
 * package the step belongs to.
 */
export async function callTaskOfMillrace<T>(act: () => T | Promise<T>): Promise<T> {
  return await act();
}

/**
 * Whether the code of the attempt awaits the caller and nothing else: V8 knows which function awaits which promise. A chain that does not lead
 * to the task is a branch that nothing awaits yet, and a chain through `Promise.all` or similar has other branches. Must be called after the
 * code has had the chance to await.
 */
export function isAwaitedAlone(): boolean {
  const { prepareStackTrace, stackTraceLimit } = Error;
  let found: boolean | undefined;
  try {
    Error.stackTraceLimit = maxFrames;
    Error.prepareStackTrace = (_, frames) => {
      const end = frames.findIndex((frame) => root.test(frame.getFunctionName() ?? ''));
      found = end >= 0 && frames.slice(0, end).every((frame) => frame.getPromiseIndex() === null);
    };
    void new Error('only its stack is read').stack;
  } finally {
    Error.prepareStackTrace = prepareStackTrace;
    Error.stackTraceLimit = stackTraceLimit;
  }
  return found === true;
}
