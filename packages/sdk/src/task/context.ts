/** The `ctx` of `run(payload, { ctx })`: facts about the run. Plain data, safe to log. */
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
    /** All attempts that the run may have, the first included. */
    readonly maxAttempts: number;
    /** Seconds that one attempt may take; undefined is no limit. */
    readonly maxDuration: number | undefined;
    /** Seconds of advantage in its queue. */
    readonly priority: number;
    readonly concurrencyKey: string | undefined;
    readonly version: string;
    readonly parentRunId: string | undefined;
    readonly rootRunId: string | undefined;
    /** The run that it is a replay of. */
    readonly replayOf: string | undefined;
    /** As the caller of its trigger gave it, where the trigger said so; else as it is stored. */
    readonly idempotencyKey: string | undefined;
    /** `run`, `attempt` or `global`, if the key was made by `idempotencyKeys.create`. */
    readonly idempotencyKeyScope: string | undefined;
    readonly region: string | undefined;
  };
  readonly attempt: {
    /** 1 is the first. */
    readonly number: number;
    readonly startedAt: Date;
  };
  readonly environment: {
    readonly id: string;
    /** `dev`, `stg`, `prod`, `preview`. */
    readonly slug: string;
    readonly type: string;
    /** Only of a preview branch. */
    readonly branchName: string | undefined;
  };
  readonly project: { readonly ref: string; readonly name: string };
  readonly organization: { readonly id: string; readonly name: string };
  readonly queue: { readonly name: string };
  readonly machine: { readonly name: string } | undefined;
  readonly batch: { readonly id: string } | undefined;
  /** The event that started it; its payload is the run's. */
  readonly event:
    | {
        readonly id: string;
        readonly name: string;
        /** When it happened, as its sender says. */
        readonly timestamp: Date;
        readonly source?: string;
        readonly context?: unknown;
        /** The event that it is a replay of. */
        readonly replayOf?: string;
      }
    | undefined;
}
