import type { LogLine, Outcome, TaskManifest } from '@millrace/contract/runner';
import type { Problem } from '@millrace/diagnostics';
import type { ProcessEnvironment } from '../executor/messages.ts';
import type { SpawnOptions } from '../executor/spawn.ts';
import type { OutsideVariables } from '../outside-variables/index.ts';
import type { ConnectionState } from './connection.ts';
import type { Guard } from './guard.ts';
import type { ServedBuild } from './served-build.ts';
import type { Slots } from './slots.ts';

export const defaultConcurrency = 100;
export const defaultStopMs = 25_000;

/** State shared by the runners of several environments in one process. Such a runner starts a process only when there is work for it. */
export interface Shared {
  readonly slots: Slots;
  readonly guard: Guard;
}

export interface RunnerOptions {
  /** The server's address. */
  readonly url: string;
  readonly secretKey: string;
  /** The branch of the key's environment that it serves. */
  readonly branch?: string | undefined;
  /** A folder whose code it registers and serves. Without one it only serves versions that it fetches, and requires `cache`. */
  readonly folder?: Folder | undefined;
  /** Also fetch and serve deployed versions. Default: only the folder's. */
  readonly cache?: CacheOptions;
  /** Labels of this machine for tasks with `requires`. */
  readonly labels?: readonly string[];
  /** How long, in milliseconds, runs may take to finish when the server asks this runner to stop. Default 25,000. */
  readonly stopMs?: number;
  /** Maximum number of concurrent attempts. Default 100. */
  readonly concurrency?: number;
  /** Number of shared processes per version. Default 1. */
  readonly executors?: number;
  /** Heap size of a shared process in MiB. Default: chosen by V8. */
  readonly executorMemory?: number;
  /**
   * Inherited variables of processes, overridden by the environment's variables. Default: `process.env` without `MILLRACE_…`. See `changeEnv`.
   */
  readonly env?: Readonly<Record<string, string>>;
  /**
   * Variables that the server does not know, overridden by those of the environment. They are set like these, once a process runs, and the
   * runner redacts their values in everything that it sends and prints.
   */
  readonly outside?: OutsideVariables | undefined;
  /** A user of this machine that runs executors; the runner must be root. Default: its own user. */
  readonly runAs?: string;
  /** Milliseconds between the stop signal of an attempt and killing it. Default 5,000. */
  readonly graceMs?: number;
  /** How long a shared process may be unresponsive, in milliseconds. Default 10,000. */
  readonly blockedMs?: number;
  /** How long, in milliseconds, other attempts in a process have to finish when one of them does not stop. Default 60,000. */
  readonly vacateMs?: number;
  readonly events?: RunnerEvents;
  /** Aborting it stops waiting for an unresponsive server, and `startRunner` rejects. Has no effect later. */
  readonly signal?: AbortSignal;
}

/**
 * A folder with the code of a project. The runner serves its versions. It does not build them, so that a runner of deployed versions needs
 * no bundler: the command passes an implementation that does.
 */
export interface Folder {
  /** An absolute path, the working folder of its processes. */
  readonly dir: string;
  readonly open: (runner: FolderOptions) => ServedFolder;
}

/** The runner that serves a folder. */
export interface FolderOptions {
  readonly url: string;
  readonly secretKey: string;
  /** A branch of the key's environment. */
  readonly branch?: string | undefined;
  readonly ids: SpawnOptions['ids'];
  readonly events: RunnerEvents;
  /** The current `process.env` of the task files. */
  readonly env: () => ProcessEnvironment;
  /** Versions that attempts or processes of this runner use. */
  readonly inUse: () => ReadonlySet<string>;
  readonly onRegistered: (version: string) => void;
}

/** The versions of a folder. */
export interface ServedFolder {
  /** Oldest first. */
  readonly names: readonly string[];
  /** Whether the last build had problems. */
  readonly hadProblems: boolean;
  readonly build: (version: string) => ServedBuild | undefined;
  /** Finds the versions that earlier runners of this environment built and registers the current one. */
  readonly start: (environment: string) => Promise<void>;
  /** Builds after a change. A broken project is reported, and the last version continues to be served. */
  readonly redeploy: () => Promise<void>;
  /** Stops watching the folder. */
  readonly close: () => Promise<void>;
}

/** Where fetched versions are stored, for all runners of this machine. */
export interface CacheOptions {
  readonly folder: string;
  /** Size limit in bytes. Default 2 GiB. */
  readonly size?: number;
}

export interface RunnerEvents {
  /** A version is being served: newly registered, or unchanged. */
  readonly onVersion?: (version: VersionEvent) => void;
  /** A deployed version was fetched in this many milliseconds and is being served. */
  readonly onLoaded?: (version: string, took: number) => void;
  /** A deployed version cannot be served here. The server has been notified of the reason. */
  readonly onUnable?: (version: string, why: string) => void;
  /** Files of a deployed version in the cache were lost or changed, so it is fetched again, and its attempts continue. */
  readonly onDamaged?: (version: string) => void;
  /** The runner is stopping at the server's request. */
  readonly onStopRequested?: () => void;
  /** A problem in the project prevents tasks from being served. */
  readonly onProblem?: (problem: Problem) => void;
  /** An attempt ended here. Not called for attempts that were returned to the server. */
  readonly onAttemptEnd?: (end: AttemptEnd) => void;
  /** A change could not be built. This version, the newest that could be built, is still served. */
  readonly onStillServed?: (version: string) => void;
  /** The runner stops and waits for these runs, up to this time. */
  readonly onStopping?: (stopping: { readonly runs: readonly string[]; readonly waitMs: number }) => void;
  /** Runs that move to other runners because this one is stopping. */
  readonly onReleased?: (released: ReleasedRuns) => void;
  /** This runner is stopping, and the server has not confirmed the outcomes of these runs, so they may execute again. */
  readonly onUnconfirmed?: (runs: readonly string[]) => void;
  readonly onRunLog?: (lines: readonly LogLine[]) => void;
  /** Output of executor processes that does not belong to any run. */
  readonly onOutput?: (stream: 'stdout' | 'stderr', text: string) => void;
  readonly onState?: (state: ConnectionState | 'stopped', detail?: string) => void;
}

export interface ReleasedRuns {
  /** `notStarted`: none of their code ran here. `unfinished`: they did not end in time and were killed. */
  readonly why: 'notStarted' | 'unfinished';
  readonly runs: readonly string[];
}

export interface AttemptEnd {
  readonly run: string;
  readonly task: string;
  readonly attempt: number;
  readonly outcome: Exclude<Outcome, { kind: 'released' }>;
  /** Milliseconds since its start. */
  readonly took: number;
}

export interface VersionEvent {
  readonly version: string;
  readonly isNew: boolean;
  /** Whether new runs start on it. */
  readonly isCurrent: boolean;
  readonly tasks: readonly TaskManifest[];
  /** Milliseconds from the change, or the start, until the version was served. */
  readonly took: number;
}

export interface Runner {
  /** Its id, for the lifetime of the process. */
  readonly id: string;
  /** The newest version of its folder; null without a folder. */
  readonly version: string | null;
  /** Versions that it is fetching. */
  readonly loading: () => readonly string[];
  /** Resolves when it has ended: with null after `stop`, with an error if the server rejected it. */
  readonly ended: Promise<Error | null>;
  /** Ids of its executor processes. */
  readonly pids: () => number[];
  /**
   * Changes the inherited variables of processes. Running attempts finish in the old processes, new ones start with the new variables, and the
   * project is rebuilt.
   */
  readonly changeEnv: (env: Readonly<Record<string, string>>) => void;
  /**
   * Accepts no more attempts, returns waiting ones to the server, waits for running ones (default 25,000 ms), then kills and
   * returns the rest. After the wait it takes at most two seconds.
   */
  readonly stop: (options?: { readonly waitMs?: number }) => Promise<void>;
  /** Ends the wait of `stop`, or stops without one. The server has 400 ms to confirm the returned attempts. */
  readonly stopNow: () => Promise<void>;
}
