import { setTimeout as pause } from 'node:timers/promises';

/** Milliseconds of CLOCK_MONOTONIC, which all processes of a machine share, and which the clock scenarios do not change. */
export const now = (): number => Number(process.hrtime.bigint() / 1_000n) / 1_000;

export const seconds = (count: number): Promise<void> => pause(count * 1_000);

/** Waits until `read` returns a value other than undefined and false. Its errors count as false. */
export async function until<T>(
  description: string,
  limitSeconds: number,
  read: () => Promise<T | undefined | false> | T | undefined | false,
  everyMs = 500,
): Promise<T> {
  const limit = now() + limitSeconds * 1_000;
  for (let cause: unknown; ;) {
    try {
      const value = await read();
      if (value !== undefined && value !== false) return value;
      cause = undefined;
    } catch (error) {
      cause = error;
    }
    if (now() > limit) throw new Error(`Timed out after ${limitSeconds} s: ${description}.`, { cause });
    await pause(everyMs);
  }
}
