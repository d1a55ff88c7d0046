import { setTimeout } from 'node:timers/promises';
import type * as Sdk from '@millrace/sdk';
import { drained } from './drain.ts';
import { exitCodes } from './exit-codes.ts';
import { printJson, screenOn } from './screen.ts';
import { waitsFor } from './waiting.ts';

type Runs = typeof Sdk.runs;

const lookMs = 200;
/** A run that has not started by then is asked why. */
const patienceMs = 1_500;
const askMs = 1_000;

/**
 * Waits until a run is over, and tells what it waits for meanwhile: with `json` in lines `{"type":"waiting",…}` on stdout. Ctrl-C
 * ends the waiting, not the run.
 */
export async function followRun(
  runs: Runs,
  id: string,
  { json = false }: { readonly json?: boolean | undefined },
): Promise<Sdk.Run> {
  // What follows is told here.
  waitsFor();
  const { line, paint } = screenOn(process.stderr);
  const sayHowToGoOn = (): void => line(`${id} goes on. To watch it: millrace runs show ${id} --wait`);
  const onInterrupt = (): void => {
    sayHowToGoOn();
    // A second Ctrl-C finds no listener and ends the process at once.
    void drained().then(() => process.exit(exitCodes.interrupted));
  };
  process.once('SIGINT', onInterrupt);
  const teller = tellWhy(runs, id, ({ status, reason, message }) =>
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
      await setTimeout(lookMs);
    }
  } catch (error) {
    if (isKnown) sayHowToGoOn();
    throw error;
  } finally {
    process.off('SIGINT', onInterrupt);
  }
}

/** Tells why a run is not over whenever that is another reason than the last one. */
function tellWhy(runs: Runs, id: string, tell: (reason: Sdk.Reason) => void) {
  let askAt = performance.now() + patienceMs;
  let told = '';
  return async (run: Sdk.Run): Promise<void> => {
    // No version that has its task: it may wait for ever, so that is told at once.
    if (performance.now() < askAt && (run.status !== 'PENDING_VERSION' || told !== '')) return;
    const reason = await runs.reason(id);
    askAt = performance.now() + askMs;
    const now = [reason.reason, reason.waitsFor, reason.until?.getTime()].join();
    if (now !== told) tell(reason);
    told = now;
  };
}

/** Says that no version has the task of a new run. Whoever may not ask is not bothered with that. */
export async function warnWithoutVersion(runs: Runs, id: string): Promise<void> {
  const told = await runs.reason(id).catch(() => undefined);
  if (told?.reason !== 'no_version') return;
  const { line, paint } = screenOn(process.stderr);
  line(`${paint.yellow('warning')} ${id} waits: ${told.message}`);
}
