/** The records of clients and tasks. Times are those of `now()`. */

/** A call of a client: from its invocation to its response. Without `error` it was acknowledged. */
interface Call {
  readonly invokedAt: number;
  readonly endedAt: number;
  readonly error?: string;
}

export interface TriggerCall extends Call {
  readonly call: 'trigger';
  readonly task: string;
  /** Unique for each call; the run's payload contains it. */
  readonly key: string;
  /** Acknowledged: the id of the run. */
  readonly run?: string;
  /** The token that its run waits for. */
  readonly token?: string;
}

export interface BatchCall extends Call {
  readonly call: 'batch';
  readonly task: string;
  readonly keys: readonly string[];
}

export interface CreateTokenCall extends Call {
  readonly call: 'create token';
}

export interface CompleteCall extends Call {
  readonly call: 'complete';
  readonly token: string;
  readonly value: string;
}

/** An append to `.out` of a session. */
export interface AppendCall extends Call {
  readonly call: 'append';
  readonly channel: string;
  readonly value: string;
  /** Acknowledged: the number of the record. */
  readonly seq?: number;
}

/** A message to `.in` of a session. */
export interface SendCall extends Call {
  readonly call: 'send';
  readonly channel: string;
  readonly value: string;
}

/** A record that a reader of `.out` received. */
export interface ReadRecord extends Call {
  readonly call: 'read';
  readonly channel: string;
  readonly reader: string;
  readonly seq: number;
  readonly value: string;
}

export type Operation =
  | TriggerCall
  | BatchCall
  | CreateTokenCall
  | CompleteCall
  | AppendCall
  | SendCall
  | ReadRecord;

/** An effect of a task. */
export interface Effect {
  readonly run: string;
  readonly attempt: number;
  readonly key: string;
  /** `begin`, `end`, `execute <step>`, `result <step>`, `tick` or `message`. */
  readonly point: string;
  readonly value?: unknown;
  readonly at: number;
  readonly runner?: string;
}

export interface StoredRun {
  readonly id: string;
  readonly task: string;
  /** Null while it has not ended. */
  readonly status: string | null;
  readonly key: string | null;
  readonly output: unknown;
}

/** An attempt that the server took from its runner. */
export interface LostAttempt {
  readonly run: string;
  /** The process id of the runner. */
  readonly pid: number;
  readonly outcome: 'LOST' | 'DETACHED';
}

export interface StoredTick {
  readonly nominal: string;
  readonly run: string;
}

/** The content of the database after the load has ended. */
export interface Stored {
  readonly runs: readonly StoredRun[];
  readonly lost: readonly LostAttempt[];
  /** Ticks and skipped ticks that were due during the load. */
  readonly ticks: readonly StoredTick[];
  readonly skips: readonly { readonly from: string; readonly until: string; readonly reason: string }[];
  /** The nominal times during the load, in minutes. */
  readonly due: readonly string[];
  /** The records of `.out` of each session. Records without data, such as the end of a turn, have an empty value. */
  readonly channels: Readonly<Record<string, readonly { readonly seq: number; readonly value: string }[]>>;
  readonly steps: readonly { readonly run: string; readonly name: string; readonly value: unknown }[];
}

export interface History {
  readonly operations: readonly Operation[];
  readonly effects: readonly Effect[];
  readonly stored: Stored;
}
