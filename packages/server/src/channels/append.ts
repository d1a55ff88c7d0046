import { badRequest, type Problem } from '../problem.ts';
import { batchesOf, takeGroup, type Batch, type Outcome, type WriteBatches } from './batch.ts';
import { uuidOf, type ChannelKey } from './key.ts';
import type { AppendOptions, Appended, PendingAppend } from './pending-append.ts';
import { encodeRecord, type ChannelRecord, type NewRecord } from './record.ts';
import { AppendRefused } from './refused.ts';

/** Called with the appended records, after the commit and before the append resolves. */
export type Published = (key: ChannelKey, records: readonly ChannelRecord[]) => void;

export type Append = (
  key: ChannelKey,
  records: readonly NewRecord[],
  options?: AppendOptions,
) => Promise<Appended>;

/**
 * Appends to channels, with group commit: appends that arrive during a write share the next one. No append waits for more to arrive.
 * Appends of one caller to one channel keep their order. Rejects with `AppendRefused`, or with `DatabaseLost` if the outcome is unknown, in
 * which case the same part id may be resent.
 */
export function createAppend(write: WriteBatches, published: Published): Append {
  let queue: PendingAppend[] = [];
  let writing = false;
  let scheduled = false;

  const flush = async (): Promise<void> => {
    scheduled = false;
    writing = true;
    try {
      while (queue.length > 0) {
        const { group, rest } = takeGroup(queue);
        queue = rest;
        await writeGroup(group, write, published);
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
      queue.push({ key, records, encoded, bytes, part, options, resolve, reject });
      if (scheduled || writing) return;
      scheduled = true;
      setImmediate(() => void flush());
    });
}

/** Rejects values that PostgreSQL would reject, which would fail all appends that share the write. */
function refuseUnstorable({ matchSeqNum, fencingToken, newFencingToken }: AppendOptions): void {
  if (matchSeqNum !== undefined && !Number.isSafeInteger(matchSeqNum))
    throw badRequest('matchSeqNum: must be a valid sequence number.');
  if (fencingToken?.includes('\u0000') || newFencingToken?.includes('\u0000'))
    throw badRequest('The fencing token contains a character that cannot be stored (U+0000).');
}

/** Writes until each append has resolved or rejected. Appends left over after a repetition or a rejection are written again immediately. */
async function writeGroup(group: PendingAppend[], write: WriteBatches, published: Published): Promise<void> {
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
    left = batches.flatMap((batch, index) => applyOutcome(batch, outcomes[index] as Outcome, published));
  }
}

/** Resolves or rejects the appends of a batch. Returns the appends that must be written again. */
function applyOutcome(batch: Batch, outcome: Outcome, published: Published): PendingAppend[] {
  const { appends, duplicates } = batch;
  const withDuplicates = (append: PendingAppend): PendingAppend[] => [
    append,
    ...(duplicates.get(append) ?? []),
  ];
  const refuse = (append: PendingAppend, reason: unknown): void => {
    for (const each of withDuplicates(append)) each.reject(reason);
  };
  switch (outcome.state) {
    case 'failed':
      for (const append of appends) refuse(append, outcome.reason);
      return [];
    case 'ok':
      resolveWritten(batch, outcome, published);
      return [];
    case 'repeat': {
      const left: PendingAppend[] = [];
      for (const append of appends) {
        const known = append.part === undefined ? undefined : outcome.repeated.get(append.part);
        if (!known) {
          left.push(...withDuplicates(append));
          continue;
        }
        const appended = { ...known, tail: outcome.tail, at: outcome.at, repeated: true };
        for (const each of withDuplicates(append)) each.resolve(appended);
      }
      return left;
    }
    default: {
      const refusal: Problem = new AppendRefused(outcome.state, outcome.tail);
      // A condition belongs to the first append. The others have none and are written again.
      const [first, ...others] = appends;
      if (first) refuse(first, refusal);
      if (outcome.state === 'match' || outcome.state === 'fence') return others.flatMap(withDuplicates);
      for (const append of others) refuse(append, refusal);
      return [];
    }
  }
}

function resolveWritten(
  { key, appends, duplicates }: Batch,
  { tail, at }: { readonly tail: number; readonly at: number },
  published: Published,
): void {
  let seq = tail;
  const records: ChannelRecord[] = [];
  for (const append of appends)
    for (const record of append.records) records.push({ ...record, seq: seq++, at });
  published(key, records);
  let start = tail;
  for (const append of appends) {
    const end = start + append.records.length;
    append.resolve({ start, end, tail: seq, at, repeated: false });
    for (const duplicate of duplicates.get(append) ?? [])
      duplicate.resolve({ start, end, tail: seq, at, repeated: true });
    start = end;
  }
}
