import { median } from '../statistics.ts';
import type { Moment, Parts } from './watch.ts';

export interface Window extends Moment {
  /** Attempts since the beginning, and a second in this window. */
  readonly begun: number;
  readonly perS: number;
  /** Processor time of each attempt, in microseconds: other work on the machine moves it less than it moves the rate. */
  readonly cpuUs: Parts;
  /** How many processors the load had or could have had: those of the machine without what others used. */
  readonly cores: number;
  readonly waiting: number;
}

/** The slowest window must reach this share of the median. */
const goal = 0.8;
/** Windows in which the processes start and the queue fills. */
const warmUps = 2;
/** The end may be so much above the middle: memory and tables go up and down. */
const slack = 1.25;
/** Differences below this number of MiB are noise. */
const noise = 16;

export interface Verdict {
  readonly medianPerS: number;
  readonly slowestPerS: number;
  readonly ratio: number;
  /**
   * The same, had the machine been as fast and as free in each window as in the median one. Other tenants of the hardware slow it for
   * minutes. The runner shows by how much: it does the same work for each attempt, regardless of the stored data, and its processor time for it followed
   * the rate of 44 windows with a correlation of −0.90. Time in which everything waits for a lock or the disk is not taken out.
   */
  readonly steadyRatio: number;
  /** The values that were larger in the last third than at any time in the middle third. */
  readonly rising: readonly string[];
  readonly good: boolean;
  readonly text: string;
}

export function verdictOf(all: readonly Window[]): Verdict {
  const windows = all.slice(warmUps);
  const rates = windows.map(({ perS }) => perS);
  const medianPerS = median(rates) ?? 0;
  const slowestPerS = Math.min(...rates);
  const ratio = slowestPerS / medianPerS;
  const steady = windows.map(({ perS, cpuUs, cores }) => (perS * cpuUs.runner) / cores);
  const steadyRatio = Math.min(...steady) / (median(steady) ?? 0);
  const speeds = windows.map(({ cpuUs }) => cpuUs.runner);
  const variation = Math.max(...speeds) / Math.min(...speeds) - 1;
  const third = Math.floor(windows.length / 3);
  const middle = windows.slice(third, 2 * third);
  const last = windows.slice(2 * third);
  const max = (some: readonly Window[], read: (window: Window) => number): number =>
    Math.max(0, ...some.map(read));
  const sizes: Record<string, (window: Window) => number> = {
    'memory of the server': ({ memory }) => memory.server,
    'memory of the runner': ({ memory }) => memory.runner,
    'memory of the database': ({ memory }) => memory.database,
    ...Object.fromEntries(
      Object.keys(windows[0]?.hot ?? {}).map((name) => [
        `table ${name}`,
        ({ hot }: Window) => hot[name] ?? 0,
      ]),
    ),
  };
  const rising = Object.entries(sizes).flatMap(([name, read]) => {
    const [before, after] = [max(middle, read), max(last, read)];
    return after > before * slack + noise
      ? [`${name} (${Math.round(before)} to ${Math.round(after)} MiB)`]
      : [];
  });
  const good = windows.length >= 3 && Math.max(ratio, steadyRatio) >= goal && rising.length === 0;
  const text = [
    `median ${Math.round(medianPerS)}/s, slowest window ${Math.round(slowestPerS)}/s, ratio ${ratio.toFixed(2)} (goal ${goal})`,
    `at an even speed of the machine, which varied by ${Math.round(variation * 100)} %, and ${Math.min(...windows.map(({ cores }) => cores)).toFixed(2)} cores or more: ratio ${steadyRatio.toFixed(2)}`,
    rising.length === 0 ? 'memory and hot tables level off' : `still rising: ${rising.join(', ')}`,
    ...(windows.length < 3 ? ['too few windows to judge by'] : []),
  ].join('\n');
  return { medianPerS, slowestPerS, ratio, steadyRatio, rising, good, text };
}
