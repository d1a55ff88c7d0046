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

/** What the runners of several environments in one process share. Such a runner starts a process only when there is work for it. */
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
  /** A folder whose code it registers and serves. Without one it only serves versions that it fetches, and needs `cache`. */
  readonly folder?: Folder | undefined;
  /** Fetch and serve deployed versions, too. Default: only the folder's. */
  readonly cache?: CacheOptions;
  /** What this machine has for tasks with `requires`. */
  readonly labels?: readonly string[];
  /** Milliseconds that runs may take to finish when the server asks this runner to stop. Default 25,000. */
  readonly stopMs?: number;
  /** Attempts that execute at once. Default 100. */
  readonly concurrency?: number;
  /** Shared processes of a version. Default 1. */
  readonly executors?: number;
  /** MiB of heap of a shared process. Default: what V8 takes. */
  readonly executorMemory?: number;
  /** What processes inherit, below the environment's variables. Default: `process.env` without `MILLRACE_…`. See `changeEnv`. */
  readonly env?: Readonly<Record<string, string>>;
  /**
   * Variables that the server does not know, below those of the environment. They are set like these, once a process runs, and the runner
   * redacts their values in what it sends and prints.
   */
  readonly outside?: OutsideVariables | undefined;
  /** A user of this machine that executors run as; the runner must be root. Default: its own user. */
  readonly runAs?: string;
  /** Milliseconds between asking an attempt to stop and killing it. Default 5,000. */
  readonly graceMs?: number;
  /** Milliseconds that a shared process may be unresponsive. Default 10,000. */
  readonly blockedMs?: number;
  /** Milliseconds that other attempts in a process have to finish when one of them does not stop. Default 60,000. */
  readonly vacateMs?: number;
  readonly events?: RunnerEvents;
  /** Aborting it stops waiting for a server that does not answer: `startRunner` rejects. No effect later. */
  readonly signal?: AbortSignal;
}

/**
 * A folder with the code of a project. The runner serves its versions. It does not build them, so that a runner of deployed versions needs
 * no bundler: the command passes an implementation that does.
 */
export interface Folder {
  /** Absolute. Its processes work there. */
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
  /** Of the last build. */
  readonly hadProblems: boolean;
  readonly build: (version: string) => ServedBuild | undefined;
  /** Finds the versions that earlier runners of this environment built, and registers the present one. */
  readonly start: (environment: string) => Promise<void>;
  /** Builds after a change. A broken project is reported, and the last version stays in service. */
  readonly redeploy: () => Promise<void>;
  /** Ends what follows changes of the folder. */
  readonly close: () => Promise<void>;
}

/** Where fetched versions are kept, for all runners of this machine. */
export interface CacheOptions {
  readonly folder: string;
  /** Bytes. Default 2 GiB. */
  readonly size?: number;
}

export interface RunnerEvents {
  /** A version is in service: newly registered, or unchanged. */
  readonly onVersion?: (version: VersionEvent) => void;
  /** A deployed version was fetched, in this many milliseconds, and is in service. */
  readonly onLoaded?: (version: string, took: number) => void;
  /** A deployed version cannot be served here. The server has been told why. */
  readonly onUnable?: (version: string, why: string) => void;
  /** Files of a deployed version in the cache were lost or changed: it is fetched again, and its attempts go on. */
  readonly onDamaged?: (version: string) => void;
  /** The server asked this runner to stop, and it stops. */
  readonly onStopAsked?: () => void;
  /** A problem in the project prevents tasks from being served. */
  readonly onProblem?: (problem: Problem) => void;
  /** An attempt ended here. Not called for attempts that were given back. */
  readonly onAttemptEnd?: (end: AttemptEnd) => void;
  /** A change could not be built. This version, the newest that could, stays in service. */
  readonly onStillServed?: (version: string) => void;
  /** The runner stops and waits for these runs, up to this time. */
  readonly onStopping?: (stopping: { readonly runs: readonly string[]; readonly waitMs: number }) => void;
  /** Runs that go to other runners because this one stops. */
  readonly onGivenBack?: (givenBack: GivenBack) => void;
  /** This runner stops, and the server has not confirmed what became of these runs. They may execute again. */
  readonly onUnconfirmed?: (runs: readonly string[]) => void;
  readonly onRunLog?: (lines: readonly LogLine[]) => void;
  /** Output of executor processes that belongs to no run. */
  readonly onOutput?: (stream: 'stdout' | 'stderr', text: string) => void;
  readonly onState?: (state: ConnectionState | 'stopped', detail?: string) => void;
}

export interface GivenBack {
  /** `notStarted`: none of their code ran here. `unfinished`: they did not end in time and were killed. */
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
  /** Whether new runs start on it. */
  readonly isCurrent: boolean;
  readonly tasks: readonly TaskManifest[];
  /** Milliseconds from the change, or the start, until the version was in service. */
  readonly took: number;
}

export interface Runner {
  /** Its id, for the lifetime of the process. */
  readonly id: string;
  /** The newest version of its folder; null without a folder. */
  readonly version: string | null;
  /** Versions that it is fetching. */
  readonly loading: () => readonly string[];
  /** Resolves when it has ended: with null after `stop`, with an error if the server refused it. */
  readonly ended: Promise<Error | null>;
  /** Ids of its executor processes. */
  readonly pids: () => number[];
  /** Changes what processes inherit. Running attempts finish in the old processes, new ones start with it, and the project is rebuilt. */
  readonly changeEnv: (env: Readonly<Record<string, string>>) => void;
  /**
   * Accepts no more attempts, gives back those that have not started, waits for running ones (default 25,000 ms) and then kills the rest
   * and gives it back. After the wait it takes two seconds at most.
   */
  readonly stop: (options?: { readonly waitMs?: number }) => Promise<void>;
  /** Ends the wait of `stop`, or stops without one. The server has 400 ms to confirm what is given back. */
  readonly stopNow: () => Promise<void>;
}
