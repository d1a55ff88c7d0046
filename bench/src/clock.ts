/** Milliseconds of CLOCK_MONOTONIC: what two processes of one machine read is comparable. */
export const now = (): number => Number(process.hrtime.bigint()) / 1e6;

export const sleep = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Polls every few milliseconds until `holds`; false if `capMs` elapsed first. */
export async function until(
  holds: () => boolean | Promise<boolean>,
  capMs: number,
  everyMs = 5,
): Promise<boolean> {
  const end = now() + capMs;
  while (!(await holds())) {
    if (now() > end) return false;
    await sleep(everyMs);
  }
  return true;
}
