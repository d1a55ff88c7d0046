import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fakeTimeLibrary } from '../prerequisites.ts';

/** A clock that a scenario sets. It only applies to processes that were started with its variables. */
export interface Clock {
  readonly env: Readonly<Record<string, string>>;
  /** Sets the clock to so many hours ahead of the real time, for running processes within a second. */
  set(hours: number): void;
}

export function createClock(folder: string, name: string): Clock {
  const file = join(folder, `clock-${name}`);
  const set = (hours: number): void => writeFileSync(file, `${hours < 0 ? '' : '+'}${hours * 3_600}\n`);
  set(0);
  chmodSync(file, 0o644);
  return {
    set,
    env: {
      LD_PRELOAD: fakeTimeLibrary ?? '',
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_CACHE_DURATION: '1',
      // As on a real machine: only the time of day jumps, and timers do not.
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    },
  };
}

export const noFakeTime = (): string | undefined =>
  fakeTimeLibrary === undefined ? 'the package faketime is missing' : undefined;
