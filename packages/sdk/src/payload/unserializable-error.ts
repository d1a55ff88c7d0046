import { explained } from '../explained.ts';

/** Number of our own frames possible between the user's call and the offending value; Node.js shows ten in all by default. */
const stackFrames = 30;

/** A payload, output or other value that cannot be serialized without loss. The message names the path of the offending value. */
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
