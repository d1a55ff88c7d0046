/** The hooks that a `trigger.config.ts` of 4.0 to 4.8 may have, and their kind. */
export const configuredKinds = {
  init: 'Init',
  onStart: 'Start',
  onStartAttempt: 'StartAttempt',
  onSuccess: 'Success',
  onFailure: 'Failure',
  onComplete: 'Complete',
  onCancel: 'Cancel',
  middleware: 'Middleware',
  cleanup: 'Cleanup',
  catchError: 'CatchError',
  handleError: 'CatchError',
} as const;

/** The configuration that a `trigger.config.ts` exports, as default or, as before 4.0, under this name. */
export const configurationIn = ({ default: main, config }: Readonly<Record<string, unknown>>): unknown =>
  main ?? config;

/** The names of a configuration's hooks. */
export const configuredHooks = (configuration: Readonly<Record<string, unknown>>) =>
  (Object.keys(configuredKinds) as (keyof typeof configuredKinds)[]).filter(
    (name) => typeof configuration[name] === 'function',
  );
