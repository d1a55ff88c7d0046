import type { ChannelKey } from './key.ts';
import type { EncodedRecord, NewRecord } from './record.ts';

export interface AppendOptions {
  /** As long as the records of an append exist, another append with the same part id adds nothing and returns their numbers. */
  readonly partId?: string | undefined;
  /** The append is rejected unless its first record gets this number. */
  readonly matchSeqNum?: number | undefined;
  /** The append is rejected unless this is the channel's token. A channel without a token has the empty text. */
  readonly fencingToken?: string | undefined;
  /** Becomes the channel's fencing token. */
  readonly newFencingToken?: string | undefined;
}

export interface Appended {
  /** Number of the first record. */
  readonly start: number;
  /** One more than the number of the last record. */
  readonly end: number;
  /** The number of the next record, as far as known. */
  readonly tail: number;
  /** Milliseconds since 1970; for a repeated part, when it was repeated. */
  readonly at: number;
  /** Nothing was appended: the channel already had the part. */
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
