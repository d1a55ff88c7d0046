/**
 * Tells those who watch runs what the verbs of this process changed, so that they need not wait for a poll. If nobody
 * watches the environment, a call costs one lookup in a map. Calls are only hints; polls back them up.
 */
export interface RunChanges {
  /** Whether anybody watches the environment, here or in another process. If not, nothing need be told. */
  isWatched(env: number): boolean;
  /** Something about these runs changed, or may have. Call it after the commit. */
  changed(env: number, runs: readonly string[]): void;
  /** A run with these tags was created, or was given them. */
  tagged(env: number, run: string, tags: readonly string[]): void;
  /** Runs were created or changed; which is not known. */
  unsettled(env: number): void;
}
