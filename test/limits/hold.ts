/**
 * Measures for how long the event loop of this thread is blocked: the processor time of the thread between two turns of the loop, not
 * the elapsed time, because the thread blocks nothing while another process has the processor. The unit is the time that `JSON.parse`
 * takes for a known text at that moment, because the processor itself is slower on a busy machine.
 */

/** The processor time of this thread in milliseconds. */
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

/** One unit in milliseconds: 4 ms on an idle machine. The median of three, because one may have been disturbed. */
function unit(): number {
  const times = [0, 0, 0].map(() => {
    const before = threadTime();
    JSON.parse(known);
    return threadTime() - before;
  });
  return times.toSorted((a, other) => a - other)[1] as number;
}

/** The limit in these units: 50 ms on an idle machine. */
export const maxHold = 12.5;
const tries = 4;

/** The longest turn of the event loop until the promise resolves, in milliseconds of processor time. */
async function maxTurn(act: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let isOver = false;
  const done = act();
  // Synchronous work of `act`, such as copying a body for another thread, is not counted.
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

/** The longest turn in units, in the best of a few tries: noise only adds to it. `act` must send its data from another thread. */
export async function minHold(act: () => Promise<unknown>): Promise<number> {
  let least = Infinity;
  for (let left = tries; left > 0 && least > maxHold; left--) {
    const longest = await maxTurn(act);
    least = Math.min(least, longest / unit());
  }
  return least;
}
