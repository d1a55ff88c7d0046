import type { MachinePreset, RetryPolicy } from '@millrace/contract/runner';
import type { Entry, TaskDefaults, TaskFiles } from '../executor/messages.ts';

/** The data that an executor needs to serve a version. */
export interface ServedBuild {
  readonly hash: string;
  readonly dir: string;
  /** For a deployed version: the module that exports the SDK, relative to `dir`. Its processes run in `dir`, others in the project. */
  readonly sdk?: string | undefined;
  readonly entries: readonly Entry[];
  readonly tasks: Readonly<Record<string, ServedTask>>;
  readonly defaults: TaskDefaults;
}

export interface ServedTask extends TaskFiles {
  /** Whether each of its runs gets its own process. */
  readonly isolated: boolean;
  /** The machine whose memory its own process gets; null for a shared process. */
  readonly machine: MachinePreset | null;
  /** Maximum duration in seconds. */
  readonly maxDuration: number | null;
  /** Set if it requests another machine when it runs out of memory. */
  readonly retry?: RetryPolicy;
}
