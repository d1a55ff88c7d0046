import { exitCodes } from './exit-codes.ts';

// One Ctrl-C may arrive twice: npm forwards it to its command, and a supervisor may signal both the process and its group.
const echoMs = 400;
/** Maximum duration of `onSecond` in milliseconds. */
const lastMs = 500;

export interface StopRequest {
  /** Resolves when this process receives a stop request. */
  readonly requested: Promise<void>;
}

/**
 * Listens for Ctrl-C, SIGTERM, SIGHUP (a closed terminal), SIGBREAK (Ctrl-Break, on Windows only) and, with an IPC channel, for the end of
 * the parent. A second signal causes an exit immediately or, with `onSecond`, after at most half a second. Child processes detect that this
 * process has ended.
 */
export function listenForStop(onFirst: () => void = () => {}, onSecond?: () => void): StopRequest {
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
  const stopNow = (): void => {
    if (!onSecond) process.exit(exitCodes.interrupted);
    if (process.exitCode === exitCodes.interrupted) return;
    process.exitCode = exitCodes.interrupted;
    setTimeout(() => process.exit(), lastMs).unref();
    onSecond();
  };
  const onSignal = (): void => {
    if (firstAt !== undefined && performance.now() - firstAt > echoMs) stopNow();
    else stop();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGBREAK'] as const) process.on(signal, onSignal);
  process.on('disconnect', stop);
  return { requested };
}
