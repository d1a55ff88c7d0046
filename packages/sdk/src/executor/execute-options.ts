import type { Assignment, EnvironmentInfo, Wait } from '@millrace/contract/runner';
import type { RunLogLine, RunSpans } from '../run-scope.ts';
import type { AnyTask } from '../task/types.ts';

/** The reason with which the executor aborts an attempt's signal. */
export type AbortReason =
  | { readonly kind: 'canceled' }
  /** The outcome has already been determined, so the code must stop and no hook is called. */
  | { readonly kind: 'settled' }
  /** `seconds` is the exceeded limit. */
  | { readonly kind: 'maxDuration'; readonly seconds: number };

/** Values that are the same for all attempts of a version. */
export interface RunContextInfo {
  readonly environment: EnvironmentInfo;
}

export interface ExecuteOptions extends RunContextInfo {
  readonly task: AnyTask;
  readonly assignment: Assignment;
  /** Aborted by the executor with an AbortReason. */
  readonly signal: AbortSignal;
  /** Receives the log lines of the run's code. */
  readonly onLog: (line: RunLogLine) => void;
  /** Receives the spans of the run's code as they end. Default: no spans are recorded. */
  readonly onSpan?: ((spans: RunSpans) => void) | undefined;
  /** Waits on behalf of the run's code. Rejects when the attempt must stop. Default: waiting is not possible. */
  readonly onWait?: ((wait: Wait) => Promise<void>) | undefined;
  /** The credential for API calls. Default: none. */
  readonly credential?: (() => string | Promise<string>) | undefined;
  /** Whether the attempt's process counts as dead, for crash tests. Default: it does not. */
  readonly isGone?: (() => boolean) | undefined;
  /** How far the code has consumed `.in`, by session. */
  readonly consumed?: Map<string, number> | undefined;
  /** Where the task is declared, for `ctx.task.filePath`. Default: empty. */
  readonly filePath?: string;
  /**
   * Whether this execution represents an uncaught error of another execution of the attempt, in which the hooks before `run` have already
   * been called. Default false.
   */
  readonly aside?: boolean;
}
