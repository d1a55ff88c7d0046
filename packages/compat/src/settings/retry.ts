import type { MachinePreset, RetryPolicy } from '@millrace/contract/runner';

const clamp = (value: unknown, least: number, max: number): number | undefined =>
  typeof value === 'number' && !Number.isNaN(value) ? Math.min(max, Math.max(least, value)) : undefined;

const whole = (value: unknown, least: number): number | undefined => {
  const number = clamp(value, least, Number.MAX_SAFE_INTEGER);
  return number === undefined ? undefined : Math.round(number);
};

/** Retry options of the published SDK converted to ours. It accepts numbers that ours rejects: zero attempts mean one attempt. */
export function retryPolicyOf(options: Readonly<Record<string, unknown>>): RetryPolicy {
  const maxAttempts = clamp(whole(options['maxAttempts'], 1), 1, 1_000);
  const factor = clamp(options['factor'], 1, 100);
  const minTimeoutInMs = whole(options['minTimeoutInMs'], 0);
  const maxTimeoutInMs = whole(options['maxTimeoutInMs'], 0);
  const { randomize } = options;
  const machine = (options['outOfMemory'] as { machine?: unknown } | undefined)?.machine;
  return {
    ...(maxAttempts !== undefined && { maxAttempts }),
    ...(factor !== undefined && { factor }),
    ...(minTimeoutInMs !== undefined && { minTimeoutInMs }),
    ...(maxTimeoutInMs !== undefined && { maxTimeoutInMs }),
    ...(typeof randomize === 'boolean' && { randomize }),
    // A machine that does not exist is rejected with the manifest.
    ...(machine !== undefined && { outOfMemory: { machine: machine as MachinePreset } }),
  };
}
