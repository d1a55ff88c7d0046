/**
 * The code of a run in every system: records its start time in memory. A count is sent to the benchmark every 10 ms, and the times on request.
 */
import { connect, type Socket } from 'node:net';

/** The payload of every run, about 200 bytes as JSON. */
export interface Sample {
  /** Its number. */
  readonly i: number;
  /** When the trigger call was made, in milliseconds of CLOCK_MONOTONIC. */
  readonly t: number;
  readonly pad: string;
}

const numbers: number[] = [];
const calledAt: number[] = [];
const startedAt: number[] = [];
let reported = 0;
let socket: Socket | undefined;

function open(): Socket {
  const opened = connect(process.env['BENCH_SOCKET'] ?? '/nowhere');
  opened.on('data', () => opened.write(`${JSON.stringify({ numbers, calledAt, startedAt })}\n`));
  // The benchmark has ended and no longer receives results.
  opened.on('error', () => undefined);
  const report = (): void => {
    if (reported === startedAt.length) return;
    reported = startedAt.length;
    opened.write(`${reported}\n`);
  };
  setInterval(report, 10).unref();
  opened.unref();
  return opened;
}

export function record({ i, t }: Sample): void {
  startedAt.push(Number(process.hrtime.bigint()) / 1e6);
  calledAt.push(t);
  numbers.push(i);
  socket ??= open();
}

/** The body of every run in every system; `BENCH_HANG` makes it one that never ends. */
export async function body(sample: Sample): Promise<void> {
  record(sample);
  if (process.env['BENCH_HANG'] === '1') await new Promise<never>(() => undefined);
}
