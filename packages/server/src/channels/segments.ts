import type { Batch } from './batch.ts';

/** Limits the data read by a reader that starts inside a segment. */
const maxSegmentBytes = 262_144;

export interface Segment {
  readonly offset: number;
  readonly count: number;
  readonly bytes: number;
  readonly records: string;
}

/** The rows of a batch. */
export function segmentsOf({ appends }: Batch): Segment[] {
  const segments: Segment[] = [];
  let texts: string[] = [];
  let bytes = 0;
  let offset = 0;
  const close = (): void => {
    if (texts.length === 0) return;
    segments.push({ offset, count: texts.length, bytes, records: `[${texts.join(',')}]` });
    offset += texts.length;
    texts = [];
    bytes = 0;
  };
  for (const { encoded } of appends) {
    for (const record of encoded) {
      if (bytes + record.bytes > maxSegmentBytes) close();
      texts.push(record.text);
      bytes += record.bytes;
    }
  }
  close();
  return segments;
}

/**
 * For each append with a part id: the position of its batch from 1, its offset from the batch's first record, its number of records, the id.
 */
export function partsOf(batches: readonly Batch[]) {
  const parts = {
    positions: [] as number[],
    offsets: [] as number[],
    counts: [] as number[],
    ids: [] as string[],
  };
  for (const [index, { appends }] of batches.entries()) {
    let offset = 0;
    for (const { part, encoded } of appends) {
      if (part !== undefined) {
        parts.positions.push(index + 1);
        parts.offsets.push(offset);
        parts.counts.push(encoded.length);
        parts.ids.push(part);
      }
      offset += encoded.length;
    }
  }
  return parts;
}
