import type {
  AttemptWaited,
  AttemptWaits,
  BriefAssignment,
  EnvironmentFacts,
  LogLine,
  RetryPolicy,
  SerializedError,
  Settlement,
  TaskManifest,
} from '@millrace/contract/runner';
import type { Entry } from '../bundle/build.ts';
import type { Problem } from '../project/problem.ts';

/**
 * What a runner and its executor processes say to each other: JSON lines over a pipe of their own (a third of the time of
 * Node's built-in channel for a lone message, the same for batches).
 */
export type ToExecutor =
  | {
      readonly type: 'index';
      /** For `process.env`, before anything of the author's is imported. */
      readonly env: Readonly<Record<string, string>>;
      readonly dir: string;
      readonly entries: readonly Entry[];
      readonly defaults: TaskDefaults;
    }
  | {
      readonly type: 'serve';
      readonly env: Readonly<Record<string, string>>;
      readonly dir: string;
      readonly entries: readonly Entry[];
      /** The source file of each task that is served. */
      readonly tasks: Readonly<Record<string, string>>;
      readonly defaults: TaskDefaults;
      readonly environment: EnvironmentFacts;
    }
  | { readonly type: 'run'; readonly assignments: readonly BriefAssignment[] }
  | { readonly type: 'cancel'; readonly fences: readonly number[] }
  | { readonly type: 'waited'; readonly attempts: readonly Waited[] }
  /** What an attempt calls the API with; null when it is not held any more. */
  | {
      readonly type: 'credential';
      readonly fence: number;
      readonly text: string | null;
      readonly goodForMs: number;
    }
  | { readonly type: 'ping' };

/** What a process has in `process.env`: with what it is started, and what is added once it runs. */
export interface ProcessEnvironment {
  readonly inherited: Readonly<Record<string, string>>;
  readonly added: Readonly<Record<string, string>>;
}

/** `suspended`: its time stands still; `running`: it goes on, and these of its waits are over. */
export interface Waited extends Pick<AttemptWaited, 'fence' | 'keys'> {
  readonly state: 'suspended' | 'running';
}

export type FromExecutor =
  /** This file is imported next: should the process die, it is why. */
  | { readonly type: 'importing'; readonly source: string }
  /** What the import of a task file started has thrown, and nobody caught it. */
  | {
      readonly type: 'problem';
      /** The task file that was imported. */
      readonly source: string;
      /** Thrown outside of every promise, as in a timer: every process that imports the file would end of it. */
      readonly torn: boolean;
      readonly problem: Problem;
    }
  | {
      readonly type: 'indexed';
      readonly tasks: readonly IndexedTask[];
      readonly problems: readonly Problem[];
    }
  | { readonly type: 'ready' }
  | {
      readonly type: 'progress';
      readonly settlements: readonly Settlement[];
      readonly lines: readonly LogLine[];
    }
  /** Code of this attempt calls the API, and has no credential. */
  | { readonly type: 'credential'; readonly fence: number }
  | { readonly type: 'waits'; readonly attempts: readonly AttemptWaits[] }
  | {
      readonly type: 'thrownAside';
      /** How the attempt that threw it ends; null when no live attempt did. Its code may go on. */
      readonly settlement: Settlement | null;
      /** Thrown outside of every promise: what was interrupted may be in any state. */
      readonly torn: boolean;
      readonly error: SerializedError;
    }
  /** The process exits; `fence` is the attempt that made it, if one did. */
  | { readonly type: 'exiting'; readonly fence: number | null; readonly error: SerializedError }
  | { readonly type: 'pong' };

/** Settings of the project for tasks that have none of their own. */
export interface TaskDefaults {
  readonly retry?: RetryPolicy;
  readonly maxDuration?: number;
}

export interface IndexedTask {
  /** The task file, relative to the project. */
  readonly source: string;
  readonly manifest: TaskManifest;
}
