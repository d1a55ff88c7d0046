import { explained } from '../explained.ts';

/** The error for a function that was called outside of a run but requires one. */
export const outsideOfRun = (what: string): Error =>
  new Error(
    explained(
      `${what} works only in the code of a task while it runs: call it there.`,
      'only-available-in-a-run',
    ),
  );

/** The error for a function that was called inside a step, where it is not allowed. */
export const insideOfStep = (what: string, step: string): Error =>
  new Error(
    explained(
      `${what} does not work inside a step (here "${step}"): the result of a step is stored as a whole. Call it before or after the step.`,
      'not-available-in-a-step',
    ),
  );
