import type { Part } from './part.ts';

/** Reasons why runs wait, and the errors of runs. */
export const runs = [
  // Runs that wait.
  ['No version is current in this environment', 'no-version-has-the-task'],
  ['The current version … has no task ', 'no-version-has-the-task'],
  ['No runner is connected that can execute ', 'no-runner-is-connected'],
  ['No connected runner ', 'no-runner-is-connected'],
  ['Millrace was started with --paused', 'something-is-paused'],
  ['The environment is paused', 'something-is-paused'],
  ['The queue … is paused', 'something-is-paused'],
  // Runs that fail.
  ['The process of the run ', 'the-process-of-the-run-ended'],
  ['The runner was lost ', 'the-runner-was-lost'],
  ['took longer than its maxDuration ', 'the-attempt-took-too-long'],
  [' does not fit the schema of task ', 'the-payload-does-not-fit'],
  [' cannot be serialized', 'a-value-cannot-be-serialized'],
  ['The output has … bytes; ', 'the-body-is-too-large'],
  [' is sealed with key ', 'a-sealed-value-does-not-open'],
  ['The code calls the step ', 'a-step-does-not-match'],
  ['The step … was stored ', 'a-step-does-not-match'],
  ['Two steps named ', 'a-step-does-not-match'],
  ['The attempt is over: what its code left behind ', 'the-credential-has-ended'],
  ['There is no credential here: ', 'there-is-no-credential-in-a-task'],
  [' works only in the code of a task while it runs', 'outside-of-a-run'],
  [' does not work inside a step ', 'inside-of-a-step'],
] as const satisfies readonly Part[];

/** Errors with which Millrace itself ends an attempt. */
export const ownErrors: ReadonlySet<string> = new Set([
  'ConfigurationError',
  'MaxDurationExceeded',
  'OutOfMemory',
  'OutputTooLargeError',
  'OutputUnserializableError',
  'PayloadValidationError',
  'ProcessExit',
  'ProcessKilled',
  'RunnerLost',
  'SealedError',
  'StepMismatchError',
  'UnserializableError',
]);
