import { exitCodes } from './exit-codes.ts';

// One Ctrl-C may arrive twice: npm forwards it to its command, and a supervisor may signal both the process and its group.
const echoMs = 400;

export interface StopRequest {
  /** Resolves when this process is asked to stop. */
  readonly requested: Promise<void>;
}

/**
 * Listens for Ctrl-C, SIGTERM, SIGHUP and, with an IPC channel, for the end of the parent. A second signal exits at once; child
 * processes notice that this process has ended.
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
