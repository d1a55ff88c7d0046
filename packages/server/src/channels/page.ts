import type { ChannelRecord } from './record.ts';

/** Consecutive records of one channel, from an append or a read. Readers share the page and its frames. */
export class Page {
  readonly records: readonly ChannelRecord[];
  /** Number of the first record. */
  readonly first: number;
  /** One more than the number of the last. */
  readonly next: number;
  readonly bytes: number;
  readonly #frames = new Map<string, Buffer>();
  #suffixes: Map<number, Page> | undefined;

  /** `records` must not be empty. */
  constructor(records: readonly ChannelRecord[]) {
    this.records = records;
    this.first = records[0]?.seq ?? 0;
    this.next = (records.at(-1)?.seq ?? -1) + 1;
    this.bytes = records.reduce((sum, { body, headers }) => sum + body.length + (headers ? 200 : 100), 0);
  }

  /** This page starting at record `seq`, which must be one of its records. */
  from(seq: number): Page {
    if (seq <= this.first) return this;
    this.#suffixes ??= new Map();
    const known = this.#suffixes.get(seq);
    if (known) return known;
    const suffix = new Page(this.records.filter((record) => record.seq >= seq));
    this.#suffixes.set(seq, suffix);
    return suffix;
  }

  /** The page encoded for the wire. `make` is called once for each form. */
  frame(form: string, make: (records: readonly ChannelRecord[]) => Buffer): Buffer {
    let frame = this.#frames.get(form);
    if (!frame) this.#frames.set(form, (frame = make(this.records)));
    return frame;
  }
}
