import type { Assignment, EnvironmentFacts, Wait } from '@millrace/contract/runner';
import type { RunLogLine } from '../run-scope.ts';
import type { AnyTask } from '../task/types.ts';

/** With what reason the executor aborts an attempt's signal. */
export type AbortReason =
  | { readonly kind: 'canceled' }
  /** How the attempt ends is settled: its code is to stop, and nobody is told. */
  | { readonly kind: 'settled' }
  /** `seconds` is the limit that was passed. */
  | { readonly kind: 'maxDuration'; readonly seconds: number };

/** What is the same for all attempts of a version. */
export interface RunContextFacts {
  readonly environment: EnvironmentFacts;
}

export interface ExecuteOptions extends RunContextFacts {
  readonly task: AnyTask;
  readonly assignment: Assignment;
  /** Aborted by the executor with an AbortReason. */
  readonly signal: AbortSignal;
  /** Takes the lines that the run's code logs. */
  readonly onLog: (line: RunLogLine) => void;
  /** Takes what the run's code waits for: resolves when that is over, rejects when the attempt is to stop. Default: it cannot wait. */
  readonly onWait?: ((wait: Wait) => Promise<void>) | undefined;
  /** What its code calls the API with. Default: calls need a credential of their own. */
  readonly credential?: (() => string | Promise<string>) | undefined;
  /** Where its code notes how far it read `.in` of sessions. */
  readonly heard?: Map<string, number> | undefined;
  /** Where the task is declared, for `ctx.task.filePath`. Default: empty. */
  readonly filePath?: string;
  /** It stands for what another execution of the attempt threw aside: what comes before `run` was called there. Default false. */
  readonly aside?: boolean;
}
