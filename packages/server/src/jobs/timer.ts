/** The target of a timer. */
export interface Wakeable {
  /** Starts the next tick now, or right after the current one. */
  wakeNow(): void;
  /** Starts a tick at this time, in milliseconds by the database's clock, if none starts earlier. */
  wakeAt(at: number): void;
}

/**
 * Lets other parts of the server wake a background job. It exists before the job starts and outlives it. Without a running job it has no
 * effect, because the first tick of the job finds all due work.
 */
export class Timer implements Wakeable {
  #job: Wakeable | undefined;

  wakeNow(): void {
    this.#job?.wakeNow();
  }

  wakeAt(at: number): void {
    this.#job?.wakeAt(at);
  }

  /** Wakes this job until the returned function is called. */
  attach(job: Wakeable): () => void {
    this.#job = job;
    return () => {
      if (this.#job === job) this.#job = undefined;
    };
  }
}
