/**
 * How operations in this process announce changes to runs, so that subscribers need not wait for a poll. An announcement is only a hint,
 * since polls find the changes as well. If the environment has no subscribers, it costs a map lookup.
 */
export interface RunChanges {
  /** Whether the environment has subscribers, in any process. If not, changes need not be announced. */
  isWatched(env: number): boolean;
  /** These runs may have changed. Call this after the commit. */
  changed(env: number, runs: readonly string[]): void;
  /** A run with these tags was created, or the tags were added to it. */
  tagged(env: number, run: string, tags: readonly string[]): void;
  /** Unspecified runs of the environment were created or changed. */
  someChanged(env: number): void;
}
