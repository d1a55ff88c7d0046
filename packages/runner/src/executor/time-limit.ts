/** The longest delay of a Node.js timer. */
const maxTimer = 2 ** 31 - 1;

/** Acts after this many seconds, not counting pauses. */
export class TimeLimit {
  readonly #act: () => void;
  #leftMs: number;
  #since = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(seconds: number, act: () => void) {
    this.#act = act;
    this.#leftMs = seconds * 1_000;
    this.pause(false);
  }

  pause(paused: boolean): void {
    if (paused === (this.#timer === undefined)) return;
    const now = performance.now();
    if (paused) {
      clearTimeout(this.#timer);
      this.#timer = undefined;
      this.#leftMs -= now - this.#since;
    } else {
      this.#since = now;
      this.#timer = setTimeout(this.#act, Math.max(0, Math.min(this.#leftMs, maxTimer)));
    }
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}
