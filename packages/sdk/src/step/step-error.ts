import { abortBrand } from '../retry/abort-task-run-error.ts';

/**
 * A step has no result: its function threw, exceeded its timeout, or returned a value that cannot be stored. The `cause` is the original error.
 */
export class StepError extends Error {
  override readonly name = 'StepError';
  /** The name of the step, with its index: `charge#2`. */
  readonly step: string;

  /** @param isFinal whether another attempt of the run would not help */
  constructor(step: string, cause: Error, isFinal = false) {
    super(`Step "${step}" failed: ${cause.message}`, { cause });
    this.step = step;
    if (isFinal) Object.defineProperty(this, abortBrand, { value: true });
  }
}

/** A step exceeded its `timeout`. */
export class StepTimeoutError extends Error {
  override readonly name = 'StepTimeoutError';
}

/** The code of a run calls a different step than the stored one. Makes the run fail, because another attempt would fail in the same way. */
export class StepMismatchError extends Error {
  override readonly name = 'StepMismatchError';

  constructor(message: string) {
    super(message);
    Object.defineProperty(this, abortBrand, { value: true });
  }
}
