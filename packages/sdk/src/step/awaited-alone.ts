/** Frames of the code that waits for a step. Deeper code counts as code that does something else as well. */
const maxFrames = 200;

/** The name of `callTaskOfMillrace`. A bundler adds a number where several modules have it. */
const root = /^callTaskOfMillrace\d*$/;

/**
 * Calls the code of a task. The asynchronous stack of a step that the code waits for ends at this function, whatever copy of this package the
 * step belongs to.
 */
export async function callTaskOfMillrace<T>(act: () => T | Promise<T>): Promise<T> {
  return await act();
}

/**
 * Whether the code of the attempt waits for the caller and for nothing else: V8 knows which function awaits which promise. A chain that
 * does not lead to the task is that of a branch that nothing awaits yet, and a chain through `Promise.all` and its like has other branches.
 * To be called after the code has had its turn to await.
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
