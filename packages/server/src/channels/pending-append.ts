import type { ChannelKey } from './key.ts';
import type { EncodedRecord, NewRecord } from './record.ts';

export interface AppendOptions {
  /** While the records of an append live, another one with its part id appends nothing and gets their numbers. */
  readonly partId?: string | undefined;
  /** Refused unless the first record gets this number. */
  readonly matchSeqNum?: number | undefined;
  /** Refused unless it is the channel's. A channel without one has the empty text. */
  readonly fencingToken?: string | undefined;
  /** Becomes the channel's fencing token. */
  readonly newFencingToken?: string | undefined;
}

export interface Appended {
  /** Number of the first record. */
  readonly start: number;
  /** One more than the number of the last record. */
  readonly end: number;
  /** The number that the next record will have, as far as is known. */
  readonly tail: number;
  /** Milliseconds since 1970; for a repeated part, when it was repeated. */
  readonly at: number;
  /** Nothing was appended: the channel had the part already. */
  readonly repeated: boolean;
}

/** An append in the queue. */
export interface PendingAppend {
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
