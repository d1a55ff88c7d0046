import type { EndedSpan, SpanAttributes, SpanChunk } from '@millrace/contract/runner';

interface Gathered {
  readonly from: SpanChunk;
  spans: EndedSpan[];
  size: number;
  dropped: number;
}

/** Buffers spans for the server, up to a number of characters. Further spans are dropped, and their number is sent. */
export class SpanBuffer {
  readonly #maxSize: number;
  readonly #attempts = new Map<string, Gathered>();
  #size = 0;

  constructor(maxSize: number) {
    this.#maxSize = maxSize;
  }

  get isEmpty(): boolean {
    return this.#attempts.size === 0;
  }

  /** `elsewhere`: characters that were taken out but are still in this process. */
  add(chunk: SpanChunk, elsewhere = 0): void {
    const key = `${chunk.run} ${chunk.attempt}`;
    let into = this.#attempts.get(key);
    if (!into) this.#attempts.set(key, (into = { from: chunk, spans: [], size: 0, dropped: 0 }));
    into.dropped += chunk.dropped ?? 0;
    for (const span of chunk.spans) {
      const size = sizeOf(span);
      const used = this.#size + elsewhere;
      if (used > 0 && used + size > this.#maxSize) into.dropped += 1;
      else {
        into.spans.push(span);
        into.size += size;
        this.#size += size;
      }
    }
  }

  /** Removes and returns the first chunks: about this many characters, and at most `maxCount` spans. */
  take(maxSize = Number.POSITIVE_INFINITY, maxCount = Number.POSITIVE_INFINITY): SpanChunk[] {
    const chunks: SpanChunk[] = [];
    let left = maxSize;
    let leftCount = maxCount;
    for (const [key, gathered] of this.#attempts) {
      if (left <= 0 || leftCount <= 0) break;
      const { from, dropped } = gathered;
      const whole = gathered.size <= left && gathered.spans.length <= leftCount;
      const spans = whole ? gathered.spans : firstOf(gathered.spans, left, leftCount);
      const size = whole ? gathered.size : total(spans);
      left -= size;
      leftCount -= spans.length;
      this.#size -= size;
      const { run, attempt, trace, sampled } = from;
      chunks.push({
        run,
        attempt,
        trace,
        spans,
        ...(dropped > 0 && { dropped }),
        ...(sampled === false && { sampled }),
      });
      if (whole) this.#attempts.delete(key);
      else {
        gathered.spans = gathered.spans.slice(spans.length);
        gathered.size -= size;
        gathered.dropped = 0;
      }
    }
    return chunks;
  }
}

/** About this many characters, at least one span and at most `maxCount`. */
function firstOf(spans: readonly EndedSpan[], maxSize: number, maxCount: number): EndedSpan[] {
  let size = 0;
  let count = 0;
  for (const span of spans) {
    size += sizeOf(span);
    if (count === maxCount || (count > 0 && size > maxSize)) break;
    count += 1;
  }
  return spans.slice(0, count);
}

const total = (spans: readonly EndedSpan[]): number => spans.reduce((sum, span) => sum + sizeOf(span), 0);

/** Approximate size of the ids and times of a span. */
const overhead = 150;

function sizeOf({ name, message = '', attributes, events = [] }: EndedSpan): number {
  let size = overhead + name.length + message.length + sizeOfAttributes(attributes);
  for (const event of events) size += overhead / 3 + event.name.length + sizeOfAttributes(event.attributes);
  return size;
}

function sizeOfAttributes(attributes: SpanAttributes = {}): number {
  let size = 0;
  for (const [name, value] of Object.entries(attributes)) {
    size += name.length + (typeof value === 'string' ? value.length : 16) + 6;
    if (Array.isArray(value)) size += String(value).length;
  }
  return size;
}
