import { abortBrand } from '../retry/abort-task-run-error.ts';

/** A step has no result: its function threw, took too long, or returned what cannot be stored. The `cause` is what was thrown. */
export class StepError extends Error {
  override readonly name = 'StepError';
  /** The name of the step, with its index: `charge#2`. */
  readonly step: string;

  /** @param isFinal another attempt of the run would not help */
  constructor(step: string, cause: Error, isFinal = false) {
    super(`Step "${step}" failed: ${cause.message}`, { cause });
    this.step = step;
    if (isFinal) Object.defineProperty(this, abortBrand, { value: true });
  }
}

/** A try of a step took longer than its `timeout`. */
export class StepTimeoutError extends Error {
  override readonly name = 'StepTimeoutError';
}

/** The code of a run calls another step than the one that was stored. Ends the run: another attempt would meet the same. */
export class StepMismatchError extends Error {
  override readonly name = 'StepMismatchError';

  constructor(message: string) {
    super(message);
    Object.defineProperty(this, abortBrand, { value: true });
  }
}
