import type { ChannelKey } from './key.ts';
import type { AppendOptions, PendingAppend } from './pending-append.ts';
import type { AppendRefusal } from './refused.ts';

/** The appends of one write to one channel. */
export interface Batch {
  readonly key: ChannelKey;
  readonly appends: readonly PendingAppend[];
  /** For each of `appends`, the others with the same part id. */
  readonly duplicates: ReadonlyMap<PendingAppend, readonly PendingAppend[]>;
}

/**
 * The outcome of a batch. `tail` is the number that its first record has, or would have had. `failed`: the outcome of the write is unknown.
 */
export type Outcome =
  | { readonly state: 'ok' | AppendRefusal; readonly tail: number; readonly at: number }
  | { readonly state: 'failed'; readonly reason: unknown }
  | {
      readonly state: 'repeat';
      readonly tail: number;
      readonly at: number;
      /** By digest of the part id. */
      readonly repeated: ReadonlyMap<string, { readonly start: number; readonly end: number }>;
    };

/** Writes batches in one commit; resolves with one outcome for each batch, in order. */
export type WriteBatches = (batches: readonly Batch[]) => Promise<readonly Outcome[]>;

const maxRecords = 500;
const maxBytes = 1_048_576;

/** The appends of the next write. Conditions apply to a channel's state before the write, so only its first append may have one. */
export function takeGroup(queue: PendingAppend[]): { group: PendingAppend[]; rest: PendingAppend[] } {
  const channels = new Set<string>();
  let records = 0;
  let bytes = 0;
  let count = 0;
  for (const append of queue) {
    const { key, options } = append;
    if (isConditional(options) && channels.has(key.id)) break;
    if (count > 0 && (records + append.encoded.length > maxRecords || bytes + append.bytes > maxBytes)) break;
    records += append.encoded.length;
    bytes += append.bytes;
    channels.add(key.id);
    count++;
  }
  return count === queue.length
    ? { group: queue, rest: [] }
    : { group: queue.slice(0, count), rest: queue.slice(count) };
}

const isConditional = ({ matchSeqNum, fencingToken }: AppendOptions): boolean =>
  matchSeqNum !== undefined || fencingToken !== undefined;

/** One batch for each channel, in id order: the order in which channels are locked. */
export function batchesOf(appends: readonly PendingAppend[]): Batch[] {
  const byChannel = new Map<
    string,
    { key: ChannelKey; appends: PendingAppend[]; duplicates: Map<PendingAppend, PendingAppend[]> }
  >();
  const firsts = new Map<string, PendingAppend>();
  for (const append of appends) {
    const { key, part } = append;
    let batch = byChannel.get(key.id);
    if (!batch) byChannel.set(key.id, (batch = { key, appends: [], duplicates: new Map() }));
    const first = part === undefined ? undefined : firsts.get(key.id + part);
    if (first) {
      batch.duplicates.set(first, [...(batch.duplicates.get(first) ?? []), append]);
      continue;
    }
    if (part !== undefined) firsts.set(key.id + part, append);
    batch.appends.push(append);
  }
  return [...byChannel.values()].toSorted((a, b) => (a.key.id < b.key.id ? -1 : 1));
}
