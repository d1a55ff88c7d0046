import type {
  AttemptWaited,
  AttemptWaits,
  CompactAssignment,
  EnvironmentInfo,
  LogLine,
  PublishedSettings,
  RetryPolicy,
  SerializedError,
  Settlement,
  SpanChunk,
  TaskManifest,
} from '@millrace/contract/runner';
import type { Problem } from '@millrace/diagnostics';

/**
 * The messages between a runner and its executor processes: JSON lines over a pipe; those of an executor start with its token. A single
 * message takes a third of the time that Node.js's built-in channel takes; batches take the same time.
 */
export type ToExecutor =
  | {
      readonly type: 'index';
      /** The prefix of each line that the process sends. */
      readonly token: string;
      /** Added to `process.env` before a task file is imported. */
      readonly env: Readonly<Record<string, string>>;
      readonly dir: string;
      readonly entries: readonly Entry[];
      readonly defaults: TaskDefaults;
    }
  | {
      readonly type: 'serve';
      readonly token: string;
      readonly env: Readonly<Record<string, string>>;
      readonly dir: string;
      readonly entries: readonly Entry[];
      /** The tasks that are served, by id. */
      readonly tasks: Readonly<Record<string, TaskFiles>>;
      readonly defaults: TaskDefaults;
      readonly environment: EnvironmentInfo;
    }
  | { readonly type: 'run'; readonly assignments: readonly CompactAssignment[] }
  | { readonly type: 'cancel'; readonly fences: readonly number[] }
  | { readonly type: 'waited'; readonly attempts: readonly Waited[] }
  /** The credential of an attempt; null if the attempt is no longer held. */
  | {
      readonly type: 'credential';
      readonly fence: number;
      readonly text: string | null;
      readonly goodForMs: number;
    }
  /** `sent`: the number of messages that the runner has sent, including this one. */
  | { readonly type: 'ping'; readonly sent: number };

/** The `process.env` of a process: variables at its start, and those added once it is running. */
export interface ProcessEnvironment {
  readonly inherited: Readonly<Record<string, string>>;
  readonly added: Readonly<Record<string, string>>;
}

/** `suspended`: its time is paused. `running`: it continues, and these waits have ended. */
export interface Waited extends Pick<AttemptWaited, 'fence' | 'keys'> {
  readonly state: 'suspended' | 'running';
}

export type FromExecutor =
  /** The file that is imported next. If the process dies, this file is the cause. */
  | { readonly type: 'importing'; readonly source: string }
  /** Uncaught error of code that the import of a task file started. */
  | {
      readonly type: 'problem';
      /** The task file that was imported. */
      readonly source: string;
      /** Whether it was an uncaught exception, as in a timer, which would end every process that imports the file. */
      readonly torn: boolean;
      readonly problem: Problem;
    }
  | {
      readonly type: 'indexed';
      readonly tasks: readonly IndexedTask[];
      readonly problems: readonly Problem[];
      /** Task files that register hooks or middleware for all tasks. */
      readonly hookFiles: readonly string[];
    }
  | { readonly type: 'ready' }
  | {
      readonly type: 'progress';
      readonly settlements: readonly Settlement[];
      readonly lines: readonly LogLine[];
      readonly spans?: readonly SpanChunk[];
    }
  /** The attempt needs a credential to call the API. */
  | { readonly type: 'credential'; readonly fence: number }
  | { readonly type: 'waits'; readonly attempts: readonly AttemptWaits[] }
  | {
      readonly type: 'uncaught';
      /** The outcome of the attempt that threw the error; null if no live attempt threw it. Its code may keep running. */
      readonly settlement: Settlement | null;
      /** An uncaught exception, not a rejection: the state of the interrupted code is undefined. */
      readonly torn: boolean;
      readonly error: SerializedError;
    }
  /** The process exits; `fence` is the attempt that called process.exit, if any. */
  | { readonly type: 'exiting'; readonly fence: number | null; readonly error: SerializedError }
  /** `isComplete`: the process has received everything that was sent. */
  | { readonly type: 'pong'; readonly isComplete: boolean };

/** A task file and its bundled module. */
export interface Entry {
  /** The task file, relative to the project. */
  readonly source: string;
  /** The module, relative to the build. */
  readonly module: string;
}

/** Files of a task, relative to the project. */
export interface TaskFiles {
  /** The task file that exports it. */
  readonly source: string;
  /** Where it is declared. Default: `source`. */
  readonly filePath?: string | undefined;
}

/** Settings of the project for tasks that have none of their own. */
export interface TaskDefaults {
  readonly retry?: RetryPolicy;
  readonly maxDuration?: number;
  /** Only for a project with tasks of the published SDK. */
  readonly published?: PublishedSettings;
  /** The file with the codec of the project; one of the entries. */
  readonly codec?: string;
  /** Files that every process imports, in this order, before the files with its tasks. */
  readonly preloads?: string[];
}

export interface IndexedTask {
  /** The task file that exports it, relative to the project. */
  readonly source: string;
  readonly manifest: TaskManifest;
}
