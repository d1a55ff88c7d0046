import type { RunSnapshot } from './run-snapshot.ts';

/** The state that a subscriber has already seen. It is valid on every server process. */
export type Cursor = string;

export interface Update {
  readonly runs: readonly RunSnapshot[];
  /** The cursor for the next call. */
  readonly cursor: Cursor;
  /** No more changes are possible: every run has ended. */
  readonly ended: boolean;
}

/** The changes of one run or of a set of runs. */
export interface Feed {
  /**
   * Waits for changes after the cursor; resolves without any when the signal is aborted. `lost` if the cursor is too old: start over from
   * the current runs.
   */
  next(cursor: Cursor, signal: AbortSignal): Promise<Update | 'lost'>;
}

/** `woken` resolves when the signal is aborted or `wake` is called. */
export function untilWoken(signal: AbortSignal): { readonly woken: Promise<void>; wake(): void } {
  let wake: () => void = () => {};
  const woken = new Promise<void>((resolve) => {
    wake = () => {
      signal.removeEventListener('abort', wake);
      resolve();
    };
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', wake, { once: true });
  });
  return { woken, wake };
}
