/**
 * The runner protocol: JSON text frames over one WebSocket at `/runner/v1/connect`, authorised by an environment's secret key.
 *
 * The runner sends its id (`hello`) and may reconnect with the same id: it then keeps the attempts that it still holds. Every message about
 * an attempt carries the fence of its lease, and the server refuses a stale one. Both sides send batches; order within one direction is
 * preserved.
 */
import type { FinalStatus } from '../status.ts';
import type { BriefAssignment } from './brief.ts';
import type { MachinePreset } from './manifest.ts';
import type { SpanChunk } from './spans.ts';

/** An error as it left the user's code, made safe to send. */
export interface SerializedError {
  readonly type: 'BUILT_IN_ERROR' | 'CUSTOM_ERROR' | 'STRING_ERROR' | 'INTERNAL_ERROR';
  readonly name: string;
  readonly message: string;
  readonly stackTrace: string;
  readonly code?: string;
  /** Its `cause`, and then its `errors`: those of an AggregateError. */
  readonly causes?: readonly SerializedError[];
  /** Among `causes`: one of the `errors`, and not the `cause`. */
  readonly isMember?: true;
  /** A custom grouping key. */
  readonly fingerprint?: string;
  /** The code of the run ruled out further attempts. */
  readonly isFinal?: true;
  /** The whole error as an envelope, if a codec of the client sealed it: `message` then says only that. */
  readonly sealed?: string;
}

/** How an attempt ended. */
export type Outcome =
  | { readonly kind: 'completed'; readonly output: string | null; readonly outputType: string }
  | {
      readonly kind: 'failed';
      readonly status: Exclude<FinalStatus, 'COMPLETED' | 'CANCELED' | 'EXPIRED'>;
      readonly error: SerializedError;
    }
  /** Retry after this many milliseconds: the same run, its next attempt; all its attempts from then on are on `machine`, if it is named. */
  | {
      readonly kind: 'retry';
      readonly delayMs: number;
      readonly error: SerializedError;
      readonly machine?: MachinePreset;
    }
  | { readonly kind: 'canceled' }
  /**
   * Given back by the runner: queued again as the same attempt. With `started`, some of its code may have run: it stays on its version and
   * does not expire any more.
   */
  | { readonly kind: 'released'; readonly started?: true }
  /** The bundle of this version has no such task. */
  | { readonly kind: 'unknownTask' };

export interface Settlement {
  readonly run: string;
  readonly fence: number;
  readonly outcome: Outcome;
  /** The revision of the environment's variables that it ran with. */
  readonly revision?: number;
  /** The number of the last message that it consumed on `.in` of each session, by the session's name in the code; -1 for none yet. */
  readonly heard?: Readonly<Record<string, number>>;
}

/** Something that an attempt waits for in its code. */
export interface Wait {
  /** Identifies the wait within the run; the same if the code runs again. At most 512 characters. */
  readonly key: string;
  readonly kind: 'RUN' | 'BATCH' | 'TOKEN' | 'TIME' | 'MESSAGE';
  /**
   * Id of the run, batch or token; for a message to a session, one of the session's names, and to an input stream of the run itself,
   * `session_/input/` and its id.
   */
  readonly target?: string;
  /** For a message: it must have a higher number than this; -1 for any. */
  readonly beyond?: number;
  /** Milliseconds since 1970: the time to wait for, or the deadline for a message. */
  readonly until?: number;
  /** Alternative: milliseconds from when the server first receives the wait. */
  readonly inMs?: number;
}

/** Waits of one attempt: new ones, or ones that it asks about again. */
export interface AttemptWaits {
  readonly run: string;
  readonly fence: number;
  readonly waits: readonly Wait[];
}

/**
 * The state of an attempt's waits. `keys` are waits that are over.
 *
 * `running`: it keeps its slot and continues. `suspended`: it has given its slot back and continues only after `resumed`, which gives it
 * one again. `spell` is the number of the suspension; messages about an older one are ignored. `stale`: the attempt is no longer this
 * runner's.
 */
export interface AttemptWaited {
  readonly fence: number;
  readonly state: 'running' | 'suspended' | 'resumed' | 'stale';
  readonly spell: number | null;
  readonly keys: readonly string[];
}

export type LogLevel = 'debug' | 'info' | 'log' | 'warn' | 'error';

/** A log line of a run, from the console or the logger. */
export interface LogLine {
  readonly run: string;
  readonly attempt: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly level: LogLevel;
  readonly message: string;
  /** JSON text of structured properties. */
  readonly properties?: string;
}

export type RunnerMessage =
  | {
      readonly type: 'hello';
      /** Chosen once by the runner process; the same after reconnections. */
      readonly runner: string;
      readonly host: string;
      readonly pid: number;
      /** The release of Millrace that it is of. */
      readonly release?: string;
      /** How many attempts it accepts at once, including prefetched ones. */
      readonly capacity: number;
      /** Versions it can execute. */
      readonly versions: readonly string[];
      /** Fences of the attempts it still holds, including finished ones whose settlement is not confirmed. */
      readonly held: readonly number[];
      /** It supports `logged`. */
      readonly knowsLogged?: boolean;
      /** It fetches uploaded versions that fit these facts, and so can execute runs of any of them. */
      readonly fetches?: RunnerFacts;
      /** It loads versions when a run of them comes, or when somebody promotes them, and not ahead. */
      readonly isOnDemand?: boolean;
      /** It takes no attempts over this connection, and is to be told the branches of its environment: it connects for each of them. */
      readonly servesBranches?: boolean;
    }
  | { readonly type: 'serve'; readonly versions: readonly string[] }
  /** It could not fetch, verify or unpack this version, and wants no runs of it for a while. */
  | { readonly type: 'unable'; readonly version: string; readonly why: string }
  | { readonly type: 'capacity'; readonly capacity: number }
  | { readonly type: 'settle'; readonly settlements: readonly Settlement[] }
  | {
      readonly type: 'log';
      /**
       * Counts the frames of lines of this runner, from 1, over all its connections. A frame whose number is not above that of the last stored
       * one is a repetition, and is not stored again.
       */
      readonly seq?: number;
      readonly lines: readonly LogLine[];
      /** Confirmed together with the lines. Servers that know no spans ignore them. */
      readonly spans?: readonly SpanChunk[];
    }
  | { readonly type: 'wait'; readonly attempts: readonly AttemptWaits[] }
  /** The code of these suspended attempts has ended. They go on waiting, and then start again on any runner. */
  | { readonly type: 'detach'; readonly fences: readonly number[] }
  | { readonly type: 'heartbeat' }
  /** Send no new attempts; running ones will be settled. */
  | { readonly type: 'drain' };

export type ServerMessage =
  | {
      readonly type: 'welcome';
      readonly heartbeatMs: number;
      readonly leaseMs: number;
      /** How many frames of lines may be unconfirmed by `logged`. If omitted, the server sends no `logged`. */
      readonly logFrames?: number;
      /** Maximum number of lines in a frame, and of spans. */
      readonly frameLines?: number;
      readonly frameSpans?: number;
      /** The number of the last frame of lines of this runner that is stored; 0 for none. */
      readonly logged?: number;
      /** The server's clock in milliseconds since 1970. */
      readonly now: number;
      /** Fences of `held` that are no longer this runner's: stop them and send nothing about them. */
      readonly lost: readonly number[];
      /** The environment's variables for `process.env` of executors. */
      readonly variables: Readonly<Record<string, string>>;
      /** Their revision; omitted before the first. */
      readonly revision?: number;
      /** Names of secret variables: the runner redacts their values in its output. */
      readonly secrets?: readonly string[];
      readonly environment: EnvironmentFacts;
    }
  | { readonly type: 'run'; readonly assignments: readonly BriefAssignment[] }
  | { readonly type: 'cancel'; readonly fences: readonly number[] }
  /** Load these uploaded versions now, the most important one first, and answer with `serve` when each is loaded. */
  | { readonly type: 'load'; readonly versions: readonly string[] }
  /** The names of all live branches of its environment, after `welcome` and whenever there are others. */
  | { readonly type: 'branches'; readonly branches: readonly string[] }
  /** Somebody asked this runner to stop: as if it had received SIGTERM. */
  | { readonly type: 'stop' }
  | { readonly type: 'waited'; readonly attempts: readonly AttemptWaited[] }
  /** Fences whose settlement is final: recorded, or refused as stale. */
  | { readonly type: 'settled'; readonly fences: readonly number[]; readonly stale: readonly number[] }
  /** A frame of lines is stored. `seq` is its number, if it has one. The runner may send another. */
  | { readonly type: 'logged'; readonly seq?: number }
  /** Changed variables for attempts that start from now on. */
  | {
      readonly type: 'variables';
      readonly variables: Readonly<Record<string, string>>;
      readonly revision?: number;
      readonly secrets?: readonly string[];
    }
  /** The connection is refused; `retry` says whether to try again. */
  | { readonly type: 'refused'; readonly reason: string; readonly retry: boolean };

/** What decides which uploaded versions a runner can execute. */
export interface RunnerFacts {
  /** The major version of Node.js. */
  readonly nodeMajor: number;
  /** Such as `linux-x64-glibc`. */
  readonly platform: string;
  /** `millrace work --label`. */
  readonly labels: readonly string[];
}

/** Where a run executes, for `ctx`. */
export interface EnvironmentFacts {
  readonly id: string;
  readonly slug: string;
  readonly kind: string;
  readonly branch: string | null;
  readonly projectRef: string;
  readonly projectName: string;
  readonly organizationId: string;
  readonly organizationName: string;
}

/** Suspended attempts of a runner that take no slot. Each one beyond takes one. */
export const maxSuspended = 10_000;

/** Longest frame either side accepts, in bytes; batches are cut below it. */
export const maxFrameBytes = 32 * 1024 * 1024;
