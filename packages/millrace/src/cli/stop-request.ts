import { exitCodes } from './exit-codes.ts';

// npm repeats the terminal's Ctrl-C to the command it runs, and a supervisor may signal process and group: one request then arrives
// twice.
const echoMs = 400;

export interface StopRequest {
  /** Resolves when somebody asks this process to stop. */
  readonly requested: Promise<void>;
}

/**
 * Listens for Ctrl-C, SIGTERM, SIGHUP and, where a parent opened an IPC channel, for the parent's end.
 * A second signal does not wait for anything; children notice that this process is gone.
 */
export function listenForStop(onFirst: () => void = () => {}): StopRequest {
  let firstAt: number | undefined;
  let resolveRequested: (() => void) | undefined;
  const requested = new Promise<void>((resolve) => {
    resolveRequested = resolve;
  });
  const stop = (): void => {
    if (firstAt === undefined) {
      firstAt = performance.now();
      onFirst();
      resolveRequested?.();
    }
  };
  const onSignal = (): void => {
    if (firstAt !== undefined && performance.now() - firstAt > echoMs) process.exit(exitCodes.interrupted);
    stop();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
  process.on('disconnect', stop);
  return { requested };
}
