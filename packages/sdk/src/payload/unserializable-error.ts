import { explained } from '../explained.ts';

/** Frames of our own between the call of a user and the value that is in the way; Node would show ten in all. */
const stackFrames = 30;

/** A payload, an output or other data that no text can hold truly: the message names the path of what is in the way. */
export class UnserializableError extends Error {
  override readonly name = 'UnserializableError';

  constructor(message: string, options?: ErrorOptions) {
    super(explained(message, 'a-value-cannot-be-serialized'), options);
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = Math.max(stackTraceLimit, stackFrames);
    Error.captureStackTrace?.(this, new.target);
    Error.stackTraceLimit = stackTraceLimit;
  }
}
