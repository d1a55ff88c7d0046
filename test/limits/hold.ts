/**
 * For how long something keeps the event loop of this thread from other work. Measured is the processor time of the thread between two turns
 * of the loop, and not the time on a clock: while another process has the processor, the thread holds nothing. It is given as a multiple of the
 * time that `JSON.parse` takes for a known text at that moment, because a busy machine makes the processor itself slower.
 */

/** In milliseconds. */
function threadTime(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

const known = JSON.stringify(
  Array.from({ length: 8_000 }, (_, id) => ({
    id,
    name: `name ${id}`,
    tags: ['a', 'b'],
    at: { x: 1.5, y: null },
  })),
);

/** 4 ms on a quiet machine. The median of three: one may have been disturbed. */
function unit(): number {
  const times = [0, 0, 0].map(() => {
    const before = threadTime();
    JSON.parse(known);
    return threadTime() - before;
  });
  return times.toSorted((a, other) => a - other)[1] as number;
}

/** In these units: the goal of 50 ms on a quiet machine. */
export const maxHold = 12.5;
const tries = 4;

/** The longest turn of the event loop until the promise resolves, in milliseconds of processor time. */
async function longestTurn(act: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let isOver = false;
  const done = act();
  // What `act` did at once, such as copying a body for another thread, is not counted.
  let before = threadTime();
  const turn = (): void => {
    const now = threadTime();
    longest = Math.max(longest, now - before);
    before = now;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  await done;
  isOver = true;
  return longest;
}

/** The longest turn in units, in the best of a few tries. Noise only adds, so one short try is enough. `act` must send what it measures to another thread. */
export async function leastHold(act: () => Promise<unknown>): Promise<number> {
  let least = Infinity;
  for (let left = tries; left > 0 && least > maxHold; left--) {
    const longest = await longestTurn(act);
    least = Math.min(least, longest / unit());
  }
  return least;
}
