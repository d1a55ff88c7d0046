/**
 * The runner protocol: JSON text frames over one WebSocket at `/runner/v1/connect`, authorised by an environment's secret key.
 *
 * The runner names itself (`hello`) and may come back under the same name after a lost connection: what it still holds stays
 * its own. Every attempt is fenced: a message about an attempt carries the lease's fence, and the server refuses a stale one.
 * Both sides send batches; order within one direction is kept.
 */
import type { FinalStatus } from '../status.ts';
import type { BriefAssignment } from './brief.ts';

/** An error as it left the user's code, made safe to send. */
export interface SerializedError {
  readonly type: 'BUILT_IN_ERROR' | 'CUSTOM_ERROR' | 'STRING_ERROR' | 'INTERNAL_ERROR';
  readonly name: string;
  readonly message: string;
  readonly stackTrace: string;
  readonly code?: string;
  readonly causes?: readonly SerializedError[];
  /** The author's own grouping key. */
  readonly fingerprint?: string;
}

/** How an attempt ended. */
export type Outcome =
  | { readonly kind: 'completed'; readonly output: string | null; readonly outputType: string }
  | {
      readonly kind: 'failed';
      readonly status: Exclude<FinalStatus, 'COMPLETED' | 'CANCELED' | 'EXPIRED'>;
      readonly error: SerializedError;
    }
  /** Try again after so many milliseconds: the same run, its next attempt. */
  | { readonly kind: 'retry'; readonly delayMs: number; readonly error: SerializedError }
  | { readonly kind: 'canceled' }
  /** Given back before any of its code ran: queued again as if it had never been taken. */
  | { readonly kind: 'released' }
  /** The bundle of this version has no such task. */
  | { readonly kind: 'unknownTask' };

export interface Settlement {
  readonly run: string;
  readonly fence: number;
  readonly outcome: Outcome;
  /** The revision of the environment's variables that it ran with. */
  readonly revision?: number;
  /** The number of the last message that it took on `.in` of each session, by the name it knows that by; -1 for none yet. */
  readonly heard?: Readonly<Record<string, number>>;
}

/** Something that an attempt waits for in the midst of its code. */
export interface Wait {
  /** Which of the attempt's waits it is; the same when the attempt's code runs again. At most 512 characters. */
  readonly key: string;
  readonly kind: 'RUN' | 'BATCH' | 'TOKEN' | 'TIME' | 'MESSAGE';
  /** Id of the run, batch or token; for a message to a session, one of the session's names. */
  readonly target?: string;
  /** For a message: the number that it lies beyond, -1 for any. */
  readonly beyond?: number;
  /** Milliseconds since 1970, for a time; for a message, when it is waited for no longer. */
  readonly until?: number;
  /** Or so many milliseconds from when the server hears of it for the first time. */
  readonly inMs?: number;
}

/** Waits of one attempt: new ones, or some that it asks about again. */
export interface AttemptWaits {
  readonly run: string;
  readonly fence: number;
  readonly waits: readonly Wait[];
}

/**
 * Where an attempt stands with its waits. `keys` are waits that are over.
 *
 * `running`: it keeps its place and goes on. `suspended`: it has given its place back, and goes on no sooner than `resumed`, which
 * gives it one again. `spell` tells suspensions apart and grows: news of an older one comes too late. `stale`: the attempt is
 * somebody else's by now.
 */
export interface AttemptWaited {
  readonly fence: number;
  readonly state: 'running' | 'suspended' | 'resumed' | 'stale';
  readonly spell: number | null;
  readonly keys: readonly string[];
}

export type LogLevel = 'debug' | 'info' | 'log' | 'warn' | 'error';

/** One line that a run wrote, to the console or through the logger. */
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
      /** Chosen by the runner process once, kept over its reconnections. */
      readonly runner: string;
      readonly host: string;
      readonly pid: number;
      /** How many attempts it takes at once, not yet started ones included. */
      readonly capacity: number;
      /** Versions it can execute. */
      readonly versions: readonly string[];
      /** Fences of the attempts it still holds, finished ones whose settlement was not confirmed included. */
      readonly held: readonly number[];
      /** It knows `logged`. */
      readonly knowsLogged?: boolean;
    }
  | { readonly type: 'serve'; readonly versions: readonly string[] }
  | { readonly type: 'capacity'; readonly capacity: number }
  | { readonly type: 'settle'; readonly settlements: readonly Settlement[] }
  | { readonly type: 'log'; readonly lines: readonly LogLine[] }
  | { readonly type: 'wait'; readonly attempts: readonly AttemptWaits[] }
  /** The code of these suspended attempts is gone. They wait on, and then begin anew with whoever takes them. */
  | { readonly type: 'detach'; readonly fences: readonly number[] }
  | { readonly type: 'heartbeat' }
  /** No new attempts, please; what runs will be settled. */
  | { readonly type: 'drain' };

export type ServerMessage =
  | {
      readonly type: 'welcome';
      readonly heartbeatMs: number;
      readonly leaseMs: number;
      /** How many frames of lines may be under way that were not answered by `logged`. Without it none is answered. */
      readonly logFrames?: number;
      /** What time it is by the server's clock, in milliseconds since 1970. */
      readonly now: number;
      /** Fences of `held` that are no longer this runner's: stop them, send nothing about them. */
      readonly lost: readonly number[];
      /** The environment's variables for `process.env` of executors. */
      readonly variables: Readonly<Record<string, string>>;
      /** Their revision; not there before the first. */
      readonly revision?: number;
      /** Names of those that are secret: what a runner shows must not hold their values. */
      readonly secrets?: readonly string[];
      readonly environment: EnvironmentFacts;
    }
  | { readonly type: 'run'; readonly assignments: readonly BriefAssignment[] }
  | { readonly type: 'cancel'; readonly fences: readonly number[] }
  | { readonly type: 'waited'; readonly attempts: readonly AttemptWaited[] }
  /** Fences whose settlement is final, be it recorded or refused as stale. */
  | { readonly type: 'settled'; readonly fences: readonly number[]; readonly stale: readonly number[] }
  /** One more frame of lines has been stored, or given up: the runner may send another. */
  | { readonly type: 'logged' }
  /** They changed: attempts that start from now on get these. */
  | {
      readonly type: 'variables';
      readonly variables: Readonly<Record<string, string>>;
      readonly revision?: number;
      readonly secrets?: readonly string[];
    }
  /** The connection is refused; `retry` says whether to try again. */
  | { readonly type: 'refused'; readonly reason: string; readonly retry: boolean };

/** What `ctx` of a task tells about where it runs. */
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

/** Most suspended attempts of a runner that take none of its slots. Each one beyond takes one. */
export const maxSuspended = 10_000;

/** Longest frame either side accepts, in bytes; batches are cut below it. */
export const maxFrameBytes = 32 * 1024 * 1024;

const runnerMessageTypes: ReadonlySet<unknown> = new Set<RunnerMessage['type']>([
  'hello',
  'serve',
  'capacity',
  'settle',
  'log',
  'wait',
  'detach',
  'heartbeat',
  'drain',
]);

/**
 * Takes a parsed frame for a runner's message; undefined if it is none. Only its outline is checked: runners hold a key of the
 * environment with full access, and what they send about a run is fenced.
 */
export function runnerMessage(frame: unknown): RunnerMessage | undefined {
  if (
    typeof frame !== 'object' ||
    frame === null ||
    !('type' in frame) ||
    !runnerMessageTypes.has(frame.type)
  )
    return undefined;
  const message = frame as RunnerMessage;
  switch (message.type) {
    case 'hello':
      return typeof message.runner === 'string' &&
        message.runner.length <= 128 &&
        Number.isInteger(message.capacity) &&
        Array.isArray(message.versions) &&
        Array.isArray(message.held)
        ? message
        : undefined;
    case 'serve':
      return Array.isArray(message.versions) ? message : undefined;
    case 'settle':
      return Array.isArray(message.settlements) ? message : undefined;
    case 'log':
      return Array.isArray(message.lines) ? message : undefined;
    case 'wait':
      return Array.isArray(message.attempts) ? message : undefined;
    case 'detach':
      return Array.isArray(message.fences) ? message : undefined;
    case 'capacity':
      return Number.isInteger(message.capacity) ? message : undefined;
    default:
      return message;
  }
}
