/** More waiting attempts than this are not asked for, whatever the pace. */
export const maxPrefetched = 900;

/**
 * How many attempts to have at hand beyond those that run: about as many as finish between two looks, so that slots never
 * wait for the server, and none when they are slow, so that other runners get them.
 */
export class Prefetch {
  #amount = 0;
  #told = 0;

  /**
   * Takes in how many finished since the last look, and whether attempts have waited here too long. Gives the amount when the
   * server should hear of a change, otherwise undefined.
   */
  look(finished: number, waitedTooLong: boolean): number | undefined {
    const wanted = waitedTooLong ? 0 : Math.min(maxPrefetched, finished);
    // Up at once, down by a fifth a look: a short pause is not the end of a drain.
    this.#amount = waitedTooLong ? 0 : Math.max(wanted, Math.floor(this.#amount * 0.8));
    const changed = Math.abs(this.#amount - this.#told) >= Math.max(8, this.#told * 0.1);
    if (this.#amount === this.#told || (!changed && this.#amount !== 0)) return undefined;
    this.#told = this.#amount;
    return this.#amount;
  }

  get amount(): number {
    return this.#amount;
  }
}
