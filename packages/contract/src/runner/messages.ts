/**
 * The runner protocol: JSON text frames over one WebSocket at `/runner/v1/connect`, authorized by an environment's secret key.
 *
 * The runner sends its id (`hello`) and may reconnect with the same id: it then keeps the attempts that it still holds. Every message about an
 * attempt contains the fence of its lease, and the server rejects a stale one. Both sides send batches; order within one direction is
 * preserved.
 */
import type { FinalStatus } from '../status.ts';
import type { CompactAssignment } from './compact.ts';
import type { MachinePreset } from './manifest.ts';
import type { SpanChunk } from './spans.ts';

/** An error thrown by the user's code, made safe to send. */
export interface SerializedError {
  readonly type: 'BUILT_IN_ERROR' | 'CUSTOM_ERROR' | 'STRING_ERROR' | 'INTERNAL_ERROR';
  readonly name: string;
  readonly message: string;
  readonly stackTrace: string;
  readonly code?: string;
  /** Its `cause`, followed by its `errors` if it is an AggregateError. */
  readonly causes?: readonly SerializedError[];
  /** In `causes`: one of the `errors` rather than the `cause`. */
  readonly isMember?: true;
  /** A custom grouping key. */
  readonly fingerprint?: string;
  /** The run's code ruled out further attempts. */
  readonly isFinal?: true;
  /** The whole error as an envelope, if a client's codec sealed it: `message` is then constant. */
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
  /** Retry after this many milliseconds: the same run, its next attempt. If `machine` is given, all later attempts run on it. */
  | {
      readonly kind: 'retry';
      readonly delayMs: number;
      readonly error: SerializedError;
      readonly machine?: MachinePreset;
    }
  | { readonly kind: 'canceled' }
  /**
   * Returned by the runner: requeued as the same attempt. With `started`, some of its code may have run: it stays on its version and no
   * longer expires.
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
  readonly consumed?: Readonly<Record<string, number>>;
}

/** Something that an attempt's code waits for. */
export interface Wait {
  /** Identifies the wait within the run; the same if the code is executed again. At most 512 characters. */
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

/** Waits of one attempt: new ones, or ones whose state it requests again. */
export interface AttemptWaits {
  readonly run: string;
  readonly fence: number;
  readonly waits: readonly Wait[];
}

/**
 * The state of an attempt's waits. `keys` are the waits that have ended.
 *
 * `running`: it keeps its slot and continues. `suspended`: it has released its slot and continues only after `resumed`, which assigns it a
 * new one. `suspension` is its number; messages about an older one are ignored. `stale`: the runner no longer owns the attempt.
 */
export interface AttemptWaited {
  readonly fence: number;
  readonly state: 'running' | 'suspended' | 'resumed' | 'stale';
  readonly suspension: number | null;
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
      /** The Millrace version of the runner. */
      readonly release?: string;
      /** Maximum number of attempts that it accepts concurrently, including prefetched ones. */
      readonly capacity: number;
      /** Versions it can execute. */
      readonly versions: readonly string[];
      /** Fences of the attempts that it still holds, including finished ones whose outcome has not been confirmed. */
      readonly leased: readonly number[];
      /** It supports `logged`. */
      readonly knowsLogged?: boolean;
      /** It fetches uploaded versions that match these properties, so it can execute runs of any of them. */
      readonly fetches?: RunnerProperties;
      /** It loads versions when one of their runs arrives or when they are promoted, but not in advance. */
      readonly isOnDemand?: boolean;
      /** Its clock in milliseconds since 1970. */
      readonly at?: number;
      /**
       * It accepts no attempts over this connection, and requests the branches of its environment so that it can connect for each of them.
       */
      readonly servesBranches?: boolean;
    }
  | { readonly type: 'serve'; readonly versions: readonly string[] }
  /** It could not fetch, verify or unpack this version, and accepts no runs of it for a while. */
  | { readonly type: 'unable'; readonly version: string; readonly why: string }
  | { readonly type: 'capacity'; readonly capacity: number }
  | { readonly type: 'settle'; readonly settlements: readonly Settlement[] }
  | {
      readonly type: 'log';
      /**
       * The frame number of this runner's lines, starting at 1, across all its connections. A frame whose number is not greater than that
       * of the last stored one is a repetition and is not stored again.
       */
      readonly seq?: number;
      readonly lines: readonly LogLine[];
      /** Confirmed together with the lines. Servers that do not support spans ignore them. */
      readonly spans?: readonly SpanChunk[];
    }
  | { readonly type: 'wait'; readonly attempts: readonly AttemptWaits[] }
  /** The code of these suspended attempts has ended. They continue to wait, and then start again on any runner. */
  | { readonly type: 'detach'; readonly fences: readonly number[] }
  | {
      readonly type: 'heartbeat';
      /** Its clock in milliseconds since 1970. */
      readonly at?: number;
    }
  /** Send no new attempts; running ones will be completed. */
  | { readonly type: 'drain' };

export type ServerMessage =
  | {
      readonly type: 'welcome';
      readonly heartbeatMs: number;
      readonly leaseMs: number;
      /** How many frames of lines may be unconfirmed by `logged`. If omitted, the server sends no `logged`. */
      readonly logFrames?: number;
      /** Maximum number of lines and of spans in a frame. */
      readonly frameLines?: number;
      readonly frameSpans?: number;
      /** The number of this runner's last stored frame of lines; 0 for none. */
      readonly logged?: number;
      /** The server's clock in milliseconds since 1970. */
      readonly now: number;
      /** Fences in `leased` that this runner no longer owns. It must stop them and send nothing about them. */
      readonly lost: readonly number[];
      /** The environment's variables for `process.env` of executors. */
      readonly variables: Readonly<Record<string, string>>;
      /** Their revision; omitted before the first. */
      readonly revision?: number;
      /** Names of secret variables: the runner redacts their values in its output. */
      readonly secrets?: readonly string[];
      readonly environment: EnvironmentInfo;
    }
  | { readonly type: 'run'; readonly assignments: readonly CompactAssignment[] }
  | { readonly type: 'cancel'; readonly fences: readonly number[] }
  /** Load these uploaded versions now, the most important one first, and reply with `serve` when each is loaded. */
  | { readonly type: 'load'; readonly versions: readonly string[] }
  /**
   * The server's clock in milliseconds since 1970, if it differs from the one that the runner knows, because the database has a new host.
   */
  | { readonly type: 'time'; readonly now: number }
  /** The names of all live branches of its environment, after `welcome` and whenever they change. */
  | { readonly type: 'branches'; readonly branches: readonly string[] }
  /** A request to stop this runner, equivalent to SIGTERM. */
  | { readonly type: 'stop' }
  | { readonly type: 'waited'; readonly attempts: readonly AttemptWaited[] }
  /** Fences whose outcome is final: recorded, or rejected as stale. */
  | { readonly type: 'settled'; readonly fences: readonly number[]; readonly stale: readonly number[] }
  /** A frame of lines is stored. `seq` is its number, if it has one. The runner may send another frame. */
  | { readonly type: 'logged'; readonly seq?: number }
  /** Changed variables for attempts that start from now on. */
  | {
      readonly type: 'variables';
      readonly variables: Readonly<Record<string, string>>;
      readonly revision?: number;
      readonly secrets?: readonly string[];
    }
  /** The connection is rejected; `retry` is whether to try again. */
  | { readonly type: 'refused'; readonly reason: string; readonly retry: boolean };

/** The properties that determine which uploaded versions a runner can execute. */
export interface RunnerProperties {
  /** The major version of Node.js. */
  readonly nodeMajor: number;
  /** Such as `linux-x64-glibc`. */
  readonly platform: string;
  /** `millrace work --label`. */
  readonly labels: readonly string[];
}

/** Where a run executes, for `ctx`. */
export interface EnvironmentInfo {
  readonly id: string;
  readonly slug: string;
  readonly kind: string;
  readonly branch: string | null;
  readonly projectRef: string;
  readonly projectName: string;
  readonly organizationId: string;
  readonly organizationName: string;
}

/** Number of a runner's suspended attempts that do not occupy a slot. Each additional one does. */
export const maxSuspended = 10_000;

/** Maximum frame size that either side accepts, in bytes; batches are split to stay within it. */
export const maxFrameBytes = 32 * 1024 * 1024;
