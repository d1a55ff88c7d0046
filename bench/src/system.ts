/** The interface of every system under test. */
import type { Sample } from '../project/recorder.ts';

/** Where a process finds the system: an address and credentials, as plain text. */
export type Address = Readonly<Record<string, string>>;

/** `tuned`: its documented best settings. `default`: what its quick start gives. */
export type Profile = 'tuned' | 'default';

/** In a caller's process. */
export interface Client {
  /** One call, one run; `caller` is the number of the concurrent caller. */
  add(sample: Sample, caller: number): Promise<unknown>;
  /** Many runs by the call that the system has for that. */
  addMany?(samples: readonly Sample[]): Promise<unknown>;
  close(): Promise<unknown>;
}

export interface RunnerOptions {
  readonly profile: Profile;
  /** Concurrent runs, if the workload needs a number. */
  readonly concurrency?: number | undefined;
  /** Runs never end. */
  readonly hang?: boolean;
  /** Where starts are recorded. */
  readonly socket: string;
}

/** A process that executes runs. */
export interface Runner {
  readonly pid: number;
  readonly spawnedAt: number;
  /** When the start of the library was requested, after its modules were loaded; the same as `spawnedAt` for a command. */
  readonly startedAt: number;
  kill(): Promise<void>;
  stop(): Promise<void>;
}

export interface System {
  readonly name: string;
  /** Resets the system to a new installation, with the processes that callers and runners need. */
  begin(): Promise<Address>;
  startRunner(options: RunnerOptions): Promise<Runner>;
  /** Runs without a final state. */
  pending(): Promise<number>;
  /** Completed runs, if the system keeps them. */
  completed?(): Promise<number>;
  /** Queues `n` by copying the one that is queued, where a table allows it; then has statistics brought up to date. */
  clone?(n: number): Promise<void>;
  /** Its own processes that serve callers, without its runner and the database. */
  serverPid(): number | null;
  databasePid(): number;
  end(): Promise<void>;
}
