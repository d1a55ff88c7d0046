import {
  classicBuckets,
  type ClassicHistogram,
  type Labels,
  type MetricFamily,
  type NativeHistogram,
} from './family.ts';

/**
 * The protobuf format of Prometheus (`io.prometheus.client.MetricFamily`, each with its length before it), which carries native histograms.
 * It has few messages and none of them is read here, so a library of 2 MB is not worth it.
 */
export const protobufType =
  'application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited';

export const protobufOf = (families: readonly MetricFamily[]): Buffer =>
  Buffer.concat(
    families.map((family) => {
      const message = familyOf(family).bytes();
      return Buffer.concat([varint(message.length), message]);
    }),
  );

const types = { counter: 0, gauge: 1, histogram: 4 } as const;
/** What Prometheus' own libraries send: it marks a histogram as native. */
const zeroThreshold = 2 ** -128;

function familyOf(family: MetricFamily): Message {
  const message = new Message().text(1, family.name).text(2, family.help).uint(3, types[family.type]);
  if (family.type === 'histogram') {
    for (const histogram of family.histograms)
      message.message(4, labeled(histogram.labels).message(7, histogramOf(histogram)));
    return message;
  }
  for (const { labels, value } of family.samples)
    message.message(
      4,
      labeled(labels).message(family.type === 'gauge' ? 2 : 3, new Message().double(1, value)),
    );
  return message;
}

function labeled(labels: Labels): Message {
  const message = new Message();
  for (const [name, value] of Object.entries(labels))
    message.message(1, new Message().text(1, name).text(2, value));
  return message;
}

function histogramOf(histogram: NativeHistogram | ClassicHistogram): Message {
  const message = new Message().uint(1, histogram.count).double(2, histogram.sum);
  for (const [bound, count] of classicBuckets(histogram))
    message.message(3, new Message().uint(1, count).double(2, bound));
  if ('cumulative' in histogram) return message;
  message.sint(5, histogram.schema).double(6, zeroThreshold).uint(7, 0);
  // Spans of buckets without a gap, each with its distance from the one before, then the counts, each as the difference to the one before.
  const ordered = [...histogram.buckets].toSorted(([a], [b]) => a - b);
  const spans: { offset: number; length: number }[] = [];
  let next: number | undefined;
  for (const [bucket] of ordered) {
    const last = spans.at(-1);
    if (last && bucket === next) last.length++;
    else spans.push({ offset: bucket - (next ?? 0), length: 1 });
    next = bucket + 1;
  }
  for (const { offset, length } of spans) message.message(12, new Message().sint(1, offset).uint(2, length));
  let before = 0;
  for (const [, count] of ordered) {
    message.sint(13, count - before);
    before = count;
  }
  return message;
}

/** A protobuf message that is written field by field. */
class Message {
  readonly #parts: Buffer[] = [];

  bytes(): Buffer {
    return Buffer.concat(this.#parts);
  }

  uint(field: number, value: number): this {
    return this.#add(field, 0, varint(value));
  }

  sint(field: number, value: number): this {
    return this.uint(field, value >= 0 ? value * 2 : -value * 2 - 1);
  }

  double(field: number, value: number): this {
    const bytes = Buffer.alloc(8);
    bytes.writeDoubleLE(value);
    return this.#add(field, 1, bytes);
  }

  text(field: number, value: string): this {
    return this.#delimited(field, Buffer.from(value));
  }

  message(field: number, value: Message): this {
    return this.#delimited(field, value.bytes());
  }

  #delimited(field: number, bytes: Buffer): this {
    return this.#add(field, 2, Buffer.concat([varint(bytes.length), bytes]));
  }

  #add(field: number, wireType: number, bytes: Buffer): this {
    this.#parts.push(varint(field * 8 + wireType), bytes);
    return this;
  }
}

/** Integers up to 2^53. */
function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  bytes.push(rest);
  return Buffer.from(bytes);
}
