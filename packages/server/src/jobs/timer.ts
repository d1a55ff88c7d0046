/** What a timer wakes. */
export interface Wakeable {
  /** Starts the next tick now, or right after the one that runs. */
  wakeNow(): void;
  /** Starts a tick at this time, in milliseconds by the database's clock, if none comes before. */
  wakeAt(at: number): void;
}

/**
 * Lets other parts of the server wake a background job. It exists before the job starts and outlives it. While the job does not run it
 * does nothing: the first tick of the job finds what is due.
 */
export class Timer implements Wakeable {
  #job: Wakeable | undefined;

  wakeNow(): void {
    this.#job?.wakeNow();
  }

  wakeAt(at: number): void {
    this.#job?.wakeAt(at);
  }

  /** Wakes this job from now on, until the returned function is called. */
  attach(job: Wakeable): () => void {
    this.#job = job;
    return () => {
      if (this.#job === job) this.#job = undefined;
    };
  }
}
