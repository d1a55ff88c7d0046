import type { MetadataOperation } from '@millrace/contract';
import type { Metadata } from '@millrace/contract/metadata';
import type { LogLine, SpanChunk, Wait } from '@millrace/contract/runner';

/** A line for a run's log, without the run and attempt. */
export type RunLogLine = Omit<LogLine, 'run' | 'attempt'>;

/** Spans of a run, without the run and attempt. */
export type RunSpans = Omit<SpanChunk, 'run' | 'attempt'>;

/** The attempt to which the current async context belongs. */
export interface RunScope {
  readonly run: string;
  readonly attempt: number;
  readonly task?: string | undefined;
  /** The version that it executes. */
  readonly version?: string | undefined;
  /** Proof that this attempt still owns the run: the server rejects its calls once another attempt has started. */
  readonly fence?: number | undefined;
  /** Calls by its code that are in progress: see `withinAttempt`. */
  readonly calls?: Set<Promise<void>> | undefined;
  /** The credential that its code uses for API calls while it lasts. If omitted, calls need their own credential. */
  readonly credential?: (() => string | Promise<string>) | undefined;
  /** Receives a line for the run's log. */
  readonly onLog: (line: RunLogLine) => void;
  /** Receives its spans as they end; omitted where spans are not recorded. */
  readonly onSpan?: ((spans: RunSpans) => void) | undefined;
  /** The W3C trace context of the trigger's caller. */
  readonly traceparent?: string | undefined;
  /** Its metadata, changed locally first and then sent to the server; created by the first call. */
  readonly metadata?: (() => RunMetadata) | undefined;
  /** Named values of its code: see `locals`. */
  readonly locals?: Map<string, unknown> | undefined;
  /** Aborted when the attempt must stop. */
  readonly signal?: AbortSignal | undefined;
  /** Waits inside the attempt's code; omitted where waiting is not possible. */
  readonly waits?: RunWaits | undefined;
  /** The number of the last message that it consumed on `.in` of each session; -1 if it looked but consumed none. */
  readonly consumed?: Map<string, number> | undefined;
  /** Whether its process counts as dead, in a test of a crash: calls in progress then never return. */
  readonly isGone?: (() => boolean) | undefined;
  /** Its steps, created when its code first runs one. */
  steps?: RunSteps | undefined;
  /** The step that the code is currently in. */
  readonly step?: string | undefined;
  /** State that another SDK, whose tasks this one executes, associates with the attempt. */
  other?: object | undefined;
}

/** The part of an attempt's steps that matters at its end. */
export interface RunSteps {
  /** Warnings to report after its code has ended. */
  end(isCompleted: boolean): string[];
}

/** The run whose metadata is changed. */
export type MetadataTarget = 'operations' | 'parentOperations' | 'rootOperations';

/** The metadata of the executing run. */
export interface RunMetadata {
  /** The local state, including every change of this attempt. */
  current(): Metadata;
  /** Throws for an invalid key, and when the metadata would exceed its limit. */
  change(target: MetadataTarget, operation: MetadataOperation): void;
  /** Resolves when the server has all changes. */
  flush(): Promise<void>;
}

/** The waits of an attempt. */
export interface RunWaits {
  /** How many waits of each name have begun. The number is part of the next wait's key. */
  readonly counts: Map<string, number>;
  /** Resolves when the wait has ended and the attempt has a slot to continue in. */
  readonly begin: (wait: Wait) => Promise<void>;
}

/** The part of AsyncLocalStorage that is used. The executor installs one; elsewhere there is none. */
export interface RunScopes {
  getStore(): RunScope | undefined;
  run<R>(scope: RunScope, act: () => R): R;
}

// Global, because a task's bundle has its own copy of this package.
const slot = Symbol.for('@millrace/sdk/run-scopes');
const holder = globalThis as { [slot]?: RunScopes };

/** The scopes of this process, created on first use. */
export function runScopes(make: () => RunScopes): RunScopes {
  holder[slot] ??= make();
  return holder[slot];
}

/** Whether this process executes runs, in which case credentials are available only in their code. */
export const executesRuns = (): boolean => holder[slot] !== undefined;

/** The attempt to which the current async context belongs; undefined outside of runs. */
export const currentRun = (): RunScope | undefined => holder[slot]?.getStore();

export const inScope = <R>(scope: RunScope, act: () => R): R =>
  holder[slot] ? holder[slot].run(scope, act) : act();

/**
 * The parent of a triggered run. Runs that a stopping run still triggers, for example in `onCancel`, have no parent and are not canceled
 * with it.
 */
export const parentOf = (scope: RunScope | undefined): string | undefined =>
  scope?.signal?.aborted === true ? undefined : scope?.run;

/**
 * Makes a call that is allowed only while the attempt lasts. The attempt does not end before the call, even if its code does not await it,
 * because the server would reject the call afterwards.
 */
export async function withinAttempt<T>(act: () => Promise<T>): Promise<T> {
  const calls = currentRun()?.calls;
  if (!calls) return act();
  let end: (() => void) | undefined;
  // A separate promise, because a second reader on the call's own promise would remove the caller from the error's stack.
  const underWay = new Promise<void>((resolve) => {
    end = resolve;
  });
  calls.add(underWay);
  try {
    return await act();
  } finally {
    calls.delete(underWay);
    end?.();
  }
}
