import { setTimeout } from 'node:timers/promises';
import type * as Sdk from '@millrace/sdk';
import { drained } from './drain.ts';
import { exitCodes } from './exit-codes.ts';
import { printJson, screenOn } from './screen.ts';
import { waitsFor } from './waiting.ts';

type Runs = typeof Sdk.runs;

const pollMs = 200;
/** How long after the start of the wait the reason why the run has not started is shown, in milliseconds. */
const quietMs = 1_500;
const askMs = 1_000;

/**
 * Waits until a run has ended, and prints why it is waiting; with `json`, as lines `{"type":"waiting",…}` on stdout. Ctrl-C ends the
 * waiting, not the run.
 */
export async function followRun(
  runs: Runs,
  id: string,
  { json = false }: { readonly json?: boolean | undefined },
): Promise<Sdk.Run> {
  // This function prints its own progress.
  waitsFor();
  const { line, paint } = screenOn(process.stderr);
  const sayHowToGoOn = (): void => line(`${id} continues. To follow it: millrace runs show ${id} --wait`);
  const onInterrupt = (): void => {
    sayHowToGoOn();
    // A second Ctrl-C finds no listener and ends the process immediately.
    void drained().then(() => process.exit(exitCodes.interrupted));
  };
  process.once('SIGINT', onInterrupt);
  const teller = reasonReporter(runs, id, ({ status, reason, message }) =>
    json
      ? printJson({ type: 'waiting', id, status, reason, message })
      : line(paint.dim(`Waiting for ${id}, ${status}: ${message}`)),
  );
  let isKnown = false;
  try {
    for (;;) {
      const run = await runs.retrieve(id);
      isKnown = true;
      if (run.isCompleted) return run;
      await teller(run);
      await setTimeout(pollMs);
    }
  } catch (error) {
    if (isKnown) sayHowToGoOn();
    throw error;
  } finally {
    process.off('SIGINT', onInterrupt);
  }
}

/** Reports the reason why a run has not ended, whenever it changes. */
function reasonReporter(runs: Runs, id: string, report: (reason: Sdk.Reason) => void) {
  let askAt = performance.now() + quietMs;
  let reported = '';
  return async (run: Sdk.Run): Promise<void> => {
    // Reports a missing version immediately, because the run may wait forever.
    if (performance.now() < askAt && (run.status !== 'PENDING_VERSION' || reported !== '')) return;
    const reason = await runs.reason(id);
    askAt = performance.now() + askMs;
    const now = [reason.reason, reason.waitsFor, reason.until?.getTime()].join();
    if (now !== reported) report(reason);
    reported = now;
  };
}

/** Warns if no version has the task of a new run. Errors are ignored. */
export async function warnWithoutVersion(runs: Runs, id: string): Promise<void> {
  const reason = await runs.reason(id).catch(() => undefined);
  if (reason?.reason !== 'no_version') return;
  const { line, paint } = screenOn(process.stderr);
  line(`${paint.yellow('warning')} ${id} waits: ${reason.message}`);
}
