/** The maximum number of prefetched attempts. */
export const maxPrefetched = 900;

/**
 * How many attempts to prefetch beyond those that are running: about as many as finish between two updates, so that slots never wait for
 * the server, but none if attempts are slow, so that other runners get them.
 */
export class Prefetch {
  #amount = 0;
  #reported = 0;

  /**
   * Receives the number of attempts finished since the last update, and whether attempts have waited here too long. Returns the new amount if
   * the server must be notified, otherwise undefined.
   */
  update(finished: number, waitedTooLong: boolean): number | undefined {
    const target = waitedTooLong ? 0 : Math.min(maxPrefetched, finished);
    // Increases immediately and decreases by a fifth per update, because a short pause is not the end of a backlog.
    this.#amount = waitedTooLong ? 0 : Math.max(target, Math.floor(this.#amount * 0.8));
    const changed = Math.abs(this.#amount - this.#reported) >= Math.max(8, this.#reported * 0.1);
    if (this.#amount === this.#reported || (!changed && this.#amount !== 0)) return undefined;
    this.#reported = this.#amount;
    return this.#amount;
  }

  get amount(): number {
    return this.#amount;
  }
}
