/** The `ctx` of `run(payload, { ctx })`: information about the run. Plain data, safe to log. */
export interface Context {
  readonly task: {
    readonly id: string;
    /** Where it is declared, relative to the project. */
    readonly filePath: string;
  };
  readonly run: {
    readonly id: string;
    readonly tags: readonly string[];
    readonly isTest: boolean;
    readonly createdAt: Date;
    /** When its first attempt started. */
    readonly startedAt: Date;
    /** Maximum number of attempts of the run, including the first. */
    readonly maxAttempts: number;
    /** Maximum duration of one attempt in seconds; undefined for no limit. */
    readonly maxDuration: number | undefined;
    /** Priority in its queue, in seconds. */
    readonly priority: number;
    readonly concurrencyKey: string | undefined;
    readonly version: string;
    readonly parentRunId: string | undefined;
    readonly rootRunId: string | undefined;
    /** The run that it is a replay of. */
    readonly replayOf: string | undefined;
    /** The caller's original key, if the trigger included it; otherwise the stored key. */
    readonly idempotencyKey: string | undefined;
    /** `run`, `attempt` or `global`, if the key was created with `idempotencyKeys.create`. */
    readonly idempotencyKeyScope: string | undefined;
    readonly region: string | undefined;
  };
  readonly attempt: {
    /** Starts at 1. */
    readonly number: number;
    readonly startedAt: Date;
  };
  readonly environment: {
    readonly id: string;
    /** `dev`, `stg`, `prod`, `preview`. */
    readonly slug: string;
    readonly type: string;
    /** Only for a preview branch. */
    readonly branchName: string | undefined;
  };
  readonly project: { readonly ref: string; readonly name: string };
  readonly organization: { readonly id: string; readonly name: string };
  readonly queue: { readonly name: string };
  readonly machine: { readonly name: string } | undefined;
  readonly batch: { readonly id: string } | undefined;
  /** The event that triggered it; its payload is the run's. */
  readonly event:
    | {
        readonly id: string;
        readonly name: string;
        /** When it occurred, according to its sender. */
        readonly timestamp: Date;
        readonly source?: string;
        readonly context?: unknown;
        /** The event that it is a replay of. */
        readonly replayOf?: string;
      }
    | undefined;
}
