import type { MachinePreset, RetryPolicy } from './runner/manifest.ts';

/** The retry of an attempt that ran out of memory. */
export interface LargerMachine {
  readonly machine: MachinePreset;
  readonly delayMs: number;
}

/**
 * The retry, on a different machine, of an attempt that ran out of memory. If necessary, it exceeds `maxAttempts` by one. Undefined if the
 * task does not request another machine, or if it ran on that one.
 *
 * @example largerMachine({ outOfMemory: { machine: 'large-1x' } }, 'small-1x') // { machine: 'large-1x', delayMs: 1000 }
 */
export function largerMachine(
  retry: Pick<RetryPolicy, 'outOfMemory' | 'minTimeoutInMs' | 'maxTimeoutInMs'> | undefined,
  current: string | null | undefined,
): LargerMachine | undefined {
  const machine = retry?.outOfMemory?.machine;
  if (machine === undefined || machine === current) return undefined;
  const { minTimeoutInMs = 1_000, maxTimeoutInMs = 60_000 } = retry ?? {};
  return { machine, delayMs: Math.min(minTimeoutInMs, maxTimeoutInMs) };
}
