import type { ShownRun } from './shown-run.ts';

/** What a subscriber has seen already, in terms that mean something on every server process. */
export type Place = string;

export interface News {
  readonly runs: readonly ShownRun[];
  /** Where to go on from. */
  readonly place: Place;
  /** Nothing more will change: every run is over. */
  readonly over: boolean;
}

/** Runs that are watched together. */
export interface Feed {
  /**
   * What changed since a place: waits until something has, or the signal is raised (then nothing). `lost` when the place is too old
   * to say: begin again from the start.
   */
  next(place: Place, signal: AbortSignal): Promise<News | 'lost'>;
}

/** Resolves when the signal is raised or `woken` is called. */
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
