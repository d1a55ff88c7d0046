import { badRequest, type Problem } from '../problem.ts';
import type { ChannelKey } from './key.ts';
import type { ChannelRecord, EncodedRecord, NewRecord } from './record.ts';
import { encodeRecord } from './record.ts';
import { uuidOf } from './key.ts';
import { AppendRefused } from './refused.ts';
import type { Batch, Outcome, WriteBatches } from './write.ts';

export interface AppendOptions {
  /** The same part again, while its records live, is answered with their numbers and appends nothing. */
  readonly partId?: string | undefined;
  /** Refused unless the first record gets this number. */
  readonly matchSeqNum?: number | undefined;
  /** Refused unless it is the channel's. A channel without one has the empty text. */
  readonly fencingToken?: string | undefined;
  /** The channel's fencing token from then on. */
  readonly newFencingToken?: string | undefined;
}

export interface Appended {
  /** Number of the first record. */
  readonly start: number;
  /** One more than the number of the last. */
  readonly end: number;
  /** The number that the next record will have, as far as is known. */
  readonly tail: number;
  /** Milliseconds since 1970; of a repeated part, when it was repeated. */
  readonly at: number;
  /** Nothing was appended: the part was there. */
  readonly repeated: boolean;
}

/** Told of what was appended here, after the commit and before its writer. */
export type Published = (key: ChannelKey, records: readonly ChannelRecord[]) => void;

const maxRecords = 500;
const maxBytes = 1_048_576;

/** An append that waits for its turn. */
export interface Pending {
  readonly key: ChannelKey;
  readonly records: readonly NewRecord[];
  readonly encoded: readonly EncodedRecord[];
  readonly bytes: number;
  /** Digest of its part id. */
  readonly part: string | undefined;
  readonly options: AppendOptions;
  resolve(appended: Appended): void;
  reject(reason: unknown): void;
}

export type Append = (
  key: ChannelKey,
  records: readonly NewRecord[],
  options?: AppendOptions,
) => Promise<Appended>;

/**
 * Appends to channels. What is asked while a write is under way shares the next one, its statement and its commit; nobody waits for
 * company. Appends of one caller to one channel keep their order. Rejects with `AppendRefused`, or 503 when the database was
 * lost: then nobody knows, and the same part id may be sent again.
 */
export function createAppend(write: WriteBatches, published: Published): Append {
  let waiting: Pending[] = [];
  let writing = false;
  let scheduled = false;

  const flush = async (): Promise<void> => {
    scheduled = false;
    writing = true;
    try {
      while (waiting.length > 0) {
        const { group, rest } = take(waiting);
        waiting = rest;
        await settle(group, write, published);
      }
    } finally {
      writing = false;
    }
  };

  return (key, records, options = {}) =>
    new Promise<Appended>((resolve, reject) => {
      const encoded = records.map(encodeRecord);
      refuseUnstorable(options);
      if (encoded.length === 0) throw new RangeError('An append has at least one record.');
      const bytes = encoded.reduce((sum, record) => sum + record.bytes, 0);
      const part = options.partId === undefined ? undefined : uuidOf(options.partId);
      waiting.push({ key, records, encoded, bytes, part, options, resolve, reject });
      if (scheduled || writing) return;
      scheduled = true;
      setImmediate(() => void flush());
    });
}

/** What PostgreSQL would refuse would be refused to all who share the write. */
function refuseUnstorable({ matchSeqNum, fencingToken, newFencingToken }: AppendOptions): void {
  if (matchSeqNum !== undefined && !Number.isSafeInteger(matchSeqNum))
    throw badRequest('The number that the first record is to get is not that of any record.');
  if (fencingToken?.includes('\u0000') || newFencingToken?.includes('\u0000'))
    throw badRequest('The fencing token contains a character that cannot be stored (U+0000).');
}

/** As much as one write takes. Conditions are about a channel's state before the write, so they come first in their channel. */
function take(waiting: Pending[]): { group: Pending[]; rest: Pending[] } {
  const channels = new Set<string>();
  let records = 0;
  let bytes = 0;
  let count = 0;
  for (const append of waiting) {
    const { key, options } = append;
    if (isConditional(options) && channels.has(key.id)) break;
    if (count > 0 && (records + append.encoded.length > maxRecords || bytes + append.bytes > maxBytes)) break;
    records += append.encoded.length;
    bytes += append.bytes;
    channels.add(key.id);
    count++;
  }
  return count === waiting.length
    ? { group: waiting, rest: [] }
    : { group: waiting.slice(0, count), rest: waiting.slice(count) };
}

const isConditional = ({ matchSeqNum, fencingToken }: AppendOptions): boolean =>
  matchSeqNum !== undefined || fencingToken !== undefined;

/** Writes until every append of the group has its answer: those left over by a repetition or a refusal go again at once. */
async function settle(group: Pending[], write: WriteBatches, published: Published): Promise<void> {
  let left = group;
  while (left.length > 0) {
    const batches = batchesOf(left);
    let outcomes: readonly Outcome[];
    try {
      outcomes = await write(batches);
    } catch (error) {
      for (const append of left) append.reject(error);
      return;
    }
    left = batches.flatMap((batch, index) => answer(batch, outcomes[index] as Outcome, published));
  }
}

/** One batch a channel, in order of id. Twins with one part id are one append. */
function batchesOf(appends: readonly Pending[]): Batch[] {
  const byChannel = new Map<
    string,
    { key: ChannelKey; appends: Pending[]; twins: Map<Pending, Pending[]> }
  >();
  const firsts = new Map<string, Pending>();
  for (const append of appends) {
    const { key, part } = append;
    let batch = byChannel.get(key.id);
    if (!batch) byChannel.set(key.id, (batch = { key, appends: [], twins: new Map() }));
    const first = part === undefined ? undefined : firsts.get(key.id + part);
    if (first) {
      batch.twins.set(first, [...(batch.twins.get(first) ?? []), append]);
      continue;
    }
    if (part !== undefined) firsts.set(key.id + part, append);
    batch.appends.push(append);
  }
  return [...byChannel.values()].toSorted((a, b) => (a.key.id < b.key.id ? -1 : 1));
}

/** Answers what can be answered; replies the appends that go again. */
function answer(batch: Batch, outcome: Outcome, published: Published): Pending[] {
  const { key, appends, twins } = batch;
  const all = (append: Pending): Pending[] => [append, ...(twins.get(append) ?? [])];
  if (outcome.state === 'failed') {
    for (const append of appends.flatMap(all)) append.reject(outcome.reason);
    return [];
  }
  const { state, tail } = outcome;

  if (state === 'ok') {
    let seq = outcome.tail;
    const at = outcome.at;
    const records: ChannelRecord[] = [];
    for (const append of appends)
      for (const record of append.records) records.push({ ...record, seq: seq++, at });
    published(key, records);
    let start = outcome.tail;
    for (const append of appends) {
      const end = start + append.records.length;
      append.resolve({ start, end, tail: seq, at, repeated: false });
      for (const twin of twins.get(append) ?? []) twin.resolve({ start, end, tail: seq, at, repeated: true });
      start = end;
    }
    return [];
  }
  if (state === 'repeat') {
    const left: Pending[] = [];
    for (const append of appends) {
      const known = append.part === undefined ? undefined : outcome.repeated.get(append.part);
      if (!known) {
        left.push(...all(append));
        continue;
      }
      const { start, end } = known;
      for (const one of all(append)) one.resolve({ start, end, tail, at: outcome.at, repeated: true });
    }
    return left;
  }
  const refuse = (append: Pending, reason: Problem): void => {
    for (const one of all(append)) one.reject(reason);
  };
  const refusal = new AppendRefused(state, tail);
  // A condition is that of the first; the others never asked for it.
  const [first, ...others] = appends;
  if (first) refuse(first, refusal);
  if (state === 'match' || state === 'fence') return others.flatMap(all);
  for (const append of others) refuse(append, refusal);
  return [];
}
