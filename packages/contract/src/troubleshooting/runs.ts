import type { Part } from './part.ts';

/** Reasons why runs wait, and the errors of runs. */
export const runs = [
  // Runs that wait.
  ['No version is current in this environment', 'no-version-has-the-task'],
  ['The current version … has no task ', 'no-version-has-the-task'],
  ['No runner is connected that can execute ', 'no-runner-is-connected'],
  ['No connected runner ', 'no-runner-is-connected'],
  ['Millrace was started with --paused', 'runs-are-paused'],
  ['The environment is paused', 'runs-are-paused'],
  ['The queue … is paused', 'runs-are-paused'],
  // Runs that fail.
  ['The process of the run ', 'the-process-of-a-run-ended'],
  ['The runner was lost ', 'the-runner-was-lost'],
  ['took longer than its maxDuration ', 'attempt-timed-out'],
  [' does not fit the schema of task ', 'payload-does-not-match-the-schema'],
  [' cannot be serialized', 'a-value-cannot-be-serialized'],
  ['The output has … bytes; ', 'request-body-too-large'],
  [' is sealed with key ', 'a-sealed-value-cannot-be-decrypted'],
  ['The code calls the step ', 'step-mismatch'],
  ['The step … was stored ', 'step-mismatch'],
  ['Two steps named ', 'step-mismatch'],
  ['The attempt has ended: code that it left behind ', 'expired-credential'],
  ['There is no credential here: ', 'no-credential-in-a-task'],
  [' works only in the code of a task while it runs', 'only-available-in-a-run'],
  [' does not work inside a step ', 'not-available-in-a-step'],
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
