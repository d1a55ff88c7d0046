import type { RunSnapshot } from './run-snapshot.ts';

export interface Change {
  readonly seq: number;
  /** When this process read the change, by the database's clock. */
  readonly at: number;
  readonly run: RunSnapshot;
}

/** The latest change of each run of a set, numbered by this process and bounded in bytes. */
export class SetLog {
  readonly #maxBytes: number;
  #changes: Change[] = [];
  readonly #latest = new Map<string, Change>();
  #bytes = 0;
  /** Number of the newest change. */
  seq = 0;
  /** Number and time of the newest change that was dropped. */
  droppedSeq = 0;
  droppedAt = 0;

  constructor(maxBytes = 4 * 1_048_576) {
    this.#maxBytes = maxBytes;
  }

  add(run: RunSnapshot, at: number): void {
    const before = this.#latest.get(run.id);
    if (before) this.#bytes -= bytesOf(before.run);
    const change = { seq: ++this.seq, at, run };
    this.#changes.push(change);
    this.#latest.set(run.id, change);
    this.#bytes += bytesOf(run);
    if (this.#changes.length > 64 && this.#changes.length > 2 * this.#latest.size) {
      this.#changes = this.#changes.filter((recorded) => this.#isLatest(recorded));
    }
    let drop = 0;
    while (this.#bytes > this.#maxBytes && drop < this.#changes.length - 1) {
      const oldest = this.#changes[drop++] as Change;
      this.droppedSeq = oldest.seq;
      this.droppedAt = oldest.at;
      if (!this.#isLatest(oldest)) continue;
      this.#latest.delete(oldest.run.id);
      this.#bytes -= bytesOf(oldest.run);
    }
    if (drop > 0) this.#changes.splice(0, drop);
  }

  has(id: string): boolean {
    return this.#latest.has(id);
  }

  /** The latest changes after a number, oldest first. */
  since(seq: number): Change[] {
    let low = 0;
    let high = this.#changes.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#changes[middle] as Change).seq > seq) high = middle;
      else low = middle + 1;
    }
    return this.#changes.slice(low).filter((change) => this.#isLatest(change));
  }

  #isLatest(change: Change): boolean {
    return this.#latest.get(change.run.id) === change;
  }
}

const bytesOf = (run: RunSnapshot): number =>
  1_000 + (run.payload?.length ?? 0) + (run.output?.length ?? 0) + (run.metadata?.length ?? 0);
