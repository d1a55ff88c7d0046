import { exitCodes } from './exit-codes.ts';

// npm repeats the terminal's Ctrl-C to the command it runs: one key press then arrives twice.
const echoMs = 400;

export interface StopRequest {
  /** Resolves when somebody asks this process to stop. */
  readonly requested: Promise<void>;
}

/**
 * Listens for Ctrl-C, SIGTERM, SIGHUP and, where a parent opened an IPC channel, for the parent's end.
 * A second Ctrl-C does not wait for anything; children notice that this process is gone.
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
  process.on('SIGINT', () => {
    if (firstAt !== undefined && performance.now() - firstAt > echoMs) process.exit(exitCodes.interrupted);
    stop();
  });
  process.on('SIGTERM', stop);
  process.on('SIGHUP', stop);
  process.on('disconnect', stop);
  return { requested };
}
