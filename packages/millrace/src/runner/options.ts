import type { LogLine, Outcome, TaskManifest } from '@millrace/contract/runner';
import type { Problem } from '../project/problem.ts';
import type { ConnectionState } from './connection.ts';

export interface RunnerOptions {
  /** The server's address. */
  readonly url: string;
  readonly secretKey: string;
  readonly projectDir: string;
  /** Register a new version whenever the project's files change. */
  readonly watch: boolean;
  /** Attempts that execute at once. Default 100. */
  readonly concurrency?: number;
  /** Shared processes of a version. Default 1. */
  readonly executors?: number;
  /** MiB of heap of a shared process. Default: what V8 takes. */
  readonly executorMemory?: number;
  /** Where builds are kept: inside the project, since they find their packages from there. Default `.millrace/build`. */
  readonly buildDir?: string;
  /** What processes inherit, below the environment's variables. Default: `process.env` without `MILLRACE_…`. See `changeEnv`. */
  readonly env?: Readonly<Record<string, string>>;
  /** A user of this machine that executors run as; the runner must be root. Default: its own user. */
  readonly runAs?: string;
  /** Milliseconds between asking an attempt to stop and doing without its consent. Default 5,000. */
  readonly graceMs?: number;
  /** Milliseconds that a shared process may not answer. Default 10,000. */
  readonly blockedMs?: number;
  /** Milliseconds that the others in a process have to finish when one of them will not stop. Default 60,000. */
  readonly vacateMs?: number;
  readonly events?: RunnerEvents;
  /** Aborted, ends the waiting for a server that does not answer: `startRunner` rejects. No effect later. */
  readonly signal?: AbortSignal;
}

export interface RunnerEvents {
  /** A version is served: registered, or found again as it was. */
  readonly onVersion?: (version: VersionEvent) => void;
  /** Something in the project keeps tasks from being served. */
  readonly onProblem?: (problem: Problem) => void;
  /** An attempt has ended here, given back ones left out. */
  readonly onAttemptEnd?: (end: AttemptEnd) => void;
  /** A change could not be made a version: this one, the newest that could, goes on being served. */
  readonly onStillServed?: (version: string) => void;
  /** It stops, and waits for these runs, this long at most. */
  readonly onStopping?: (stopping: { readonly runs: readonly string[]; readonly waitMs: number }) => void;
  /** Runs that the server has run elsewhere because this runner stops. */
  readonly onGivenBack?: (givenBack: GivenBack) => void;
  readonly onRunLog?: (lines: readonly LogLine[]) => void;
  /** Output of executor processes that belongs to no run. */
  readonly onOutput?: (stream: 'stdout' | 'stderr', text: string) => void;
  readonly onState?: (state: ConnectionState | 'stopped', detail?: string) => void;
}

export interface GivenBack {
  /** `notStarted`: none of their code has run here; `unfinished`: they took longer than they were waited for, and were ended. */
  readonly why: 'notStarted' | 'unfinished';
  readonly runs: readonly string[];
}

export interface AttemptEnd {
  readonly run: string;
  readonly task: string;
  readonly attempt: number;
  readonly outcome: Exclude<Outcome, { kind: 'released' }>;
  /** Milliseconds from its start. */
  readonly took: number;
}

export interface VersionEvent {
  readonly version: string;
  readonly isNew: boolean;
  readonly tasks: readonly TaskManifest[];
  /** Milliseconds from the change, or the start, to the version being served. */
  readonly took: number;
}

export interface Runner {
  /** Its name towards the server, for as long as it lives. */
  readonly id: string;
  /** The version that new runs get here. */
  readonly version: string;
  /** Resolves when it has ended: with null after `stop`, with the reason when the server will not have it any more. */
  readonly ended: Promise<Error | null>;
  /** Ids of its executor processes. */
  readonly pids: () => number[];
  /** Changes what processes inherit: attempts that run finish in the old ones, new ones start with it, and the files are read anew. */
  readonly changeEnv: (env: Readonly<Record<string, string>>) => void;
  /**
   * Takes no more, gives back what has not started, waits for what runs (default 25,000 ms), then ends whatever is left (the server has
   * it run elsewhere). What follows the wait takes two seconds at most.
   */
  readonly stop: (options?: { readonly waitMs?: number }) => Promise<void>;
}
