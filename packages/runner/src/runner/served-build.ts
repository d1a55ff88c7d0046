import type { MachinePreset, RetryPolicy } from '@millrace/contract/runner';
import type { Entry, TaskDefaults, TaskFiles } from '../executor/messages.ts';

/** What an executor needs to serve a version. */
export interface ServedBuild {
  readonly hash: string;
  readonly dir: string;
  /** Of a deployed version: the module that exports the SDK, relative to `dir`. Its processes work in `dir`, others in the project. */
  readonly sdk?: string | undefined;
  readonly entries: readonly Entry[];
  readonly tasks: Readonly<Record<string, ServedTask>>;
  readonly defaults: TaskDefaults;
}

export interface ServedTask extends TaskFiles {
  /** Its runs get a process each. */
  readonly isolated: boolean;
  /** The same, with the memory of this machine. */
  readonly machine: MachinePreset | null;
  /** Seconds. */
  readonly maxDuration: number | null;
  /** If it asks for another machine when it runs out of memory. */
  readonly retry?: RetryPolicy;
}
