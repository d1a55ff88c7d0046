import { explained } from '../explained.ts';

/** What belongs to a run was called where there is none. */
export const outsideOfRun = (what: string): Error =>
  new Error(
    explained(`${what} works only in the code of a task while it runs: call it there.`, 'outside-of-a-run'),
  );

/** What cannot be in a step was called in one. */
export const insideOfStep = (what: string, step: string): Error =>
  new Error(
    explained(
      `${what} does not work inside a step (here "${step}"): what a step does is stored as a whole. Call it before or after the step.`,
      'inside-of-a-step',
    ),
  );
