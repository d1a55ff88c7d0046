import type { Batch } from './write.ts';

/** So that a reader in the middle of a log reads pages and not megabytes. */
const maxSegmentBytes = 262_144;

export interface Segment {
  readonly offset: number;
  readonly count: number;
  readonly bytes: number;
  readonly records: string;
}

/** What is written of a batch, a row each. */
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

/** Of each append with a part id: the place of its batch from 1, its distance from the batch's first record, its records and the id. */
export function partsOf(batches: readonly Batch[]) {
  const parts = {
    places: [] as number[],
    offsets: [] as number[],
    counts: [] as number[],
    ids: [] as string[],
  };
  for (const [index, { appends }] of batches.entries()) {
    let offset = 0;
    for (const { part, encoded } of appends) {
      if (part !== undefined) {
        parts.places.push(index + 1);
        parts.offsets.push(offset);
        parts.counts.push(encoded.length);
        parts.ids.push(part);
      }
      offset += encoded.length;
    }
  }
  return parts;
}
