import type { MetadataOperation } from '@millrace/contract';
import type { Metadata } from '@millrace/contract/metadata';
import type { LogLine, SpanChunk, Wait } from '@millrace/contract/runner';

/** A line for a run's log, before it is known whose. */
export type RunLogLine = Omit<LogLine, 'run' | 'attempt'>;

/** Spans for a run, before it is known whose. */
export type RunSpans = Omit<SpanChunk, 'run' | 'attempt'>;

/** The attempt that the current async context belongs to. */
export interface RunScope {
  readonly run: string;
  readonly attempt: number;
  readonly task?: string | undefined;
  /** The version that it executes. */
  readonly version?: string | undefined;
  /** Proof that it is this attempt that has the run: the server refuses what it does once another one has. */
  readonly fence?: number | undefined;
  /** Calls of its code that are under way: see `withinAttempt`. */
  readonly calls?: Set<Promise<void>> | undefined;
  /** What its code calls the API with, as long as it lasts. Not there where there is none: then calls need a credential of their own. */
  readonly credential?: (() => string | Promise<string>) | undefined;
  /** Takes a line for the run's log. */
  readonly onLog: (line: RunLogLine) => void;
  /** Takes its spans as they end; omitted where none are kept. */
  readonly onSpan?: ((spans: RunSpans) => void) | undefined;
  /** The W3C trace context of the caller of its trigger. */
  readonly traceparent?: string | undefined;
  /** Its metadata, changed here and told to the server a little later; made by the first call. */
  readonly metadata?: (() => RunMetadata) | undefined;
  /** Values that its code keeps under names: see `locals`. */
  readonly locals?: Map<string, unknown> | undefined;
  /** Aborted when the attempt is to stop. */
  readonly signal?: AbortSignal | undefined;
  /** Waits in the midst of the attempt's code; not there where that is not possible. */
  readonly waits?: RunWaits | undefined;
  /** The number of the last message that it took on `.in` of each session; -1 where it looked and took none. */
  readonly heard?: Map<string, number> | undefined;
  /** Whether its process counts as dead, in a test of a crash: calls that were under way then never return. */
  readonly isGone?: (() => boolean) | undefined;
  /** Its steps, from when its code first calls one. */
  steps?: RunSteps | undefined;
  /** The step that the code is in. */
  readonly step?: string | undefined;
  /** What another SDK, whose tasks are executed by this one, knows of the attempt. */
  other?: object | undefined;
}

/** The steps of an attempt, as far as its end is concerned. */
export interface RunSteps {
  /** What to warn of when its code has ended. */
  end(isCompleted: boolean): string[];
}

/** Whose metadata a run changes. */
export type MetadataTarget = 'operations' | 'parentOperations' | 'rootOperations';

/** The metadata of the run that executes. */
export interface RunMetadata {
  /** As it is here: with every change of this attempt. */
  current(): Metadata;
  /** Throws for a key that may not be used, and when there would be too much. */
  change(target: MetadataTarget, operation: MetadataOperation): void;
  /** Resolves when the server has all of it. */
  flush(): Promise<void>;
}

/** How an attempt waits. */
export interface RunWaits {
  /** How many waits of each name have begun: the next one's number is part of its key. */
  readonly counts: Map<string, number>;
  /** Resolves when it is over and the attempt has a place to go on in. */
  readonly begin: (wait: Wait) => Promise<void>;
}

/** What of an AsyncLocalStorage is used; the executor puts one in place, elsewhere there is none. */
export interface RunScopes {
  getStore(): RunScope | undefined;
  run<R>(scope: RunScope, act: () => R): R;
}

// Global, because a task's bundle has a copy of this package of its own.
const slot = Symbol.for('@millrace/sdk/run-scopes');
const holder = globalThis as { [slot]?: RunScopes };

/** The scopes of this process, made by the first that needs them. */
export function runScopes(make: () => RunScopes): RunScopes {
  holder[slot] ??= make();
  return holder[slot];
}

/** Whether this process executes runs: credentials are there in their code, and nowhere else. */
export const executesRuns = (): boolean => holder[slot] !== undefined;

/** The attempt that the current async context belongs to; undefined outside of runs. */
export const currentRun = (): RunScope | undefined => holder[slot]?.getStore();

/** Calls a function in the context of an attempt. */
export const inScope = <R>(scope: RunScope, act: () => R): R =>
  holder[slot] ? holder[slot].run(scope, act) : act();

/** The run that a trigger belongs to. What a run that was asked to stop still triggers, in its `onCancel` say, is not cancelled with it. */
export const parentOf = (scope: RunScope | undefined): string | undefined =>
  scope?.signal?.aborted === true ? undefined : scope?.run;

/**
 * What the attempt that calls may do only while it lasts: it does not end before, also where its code does not wait for it. The server
 * would refuse what comes after its end.
 */
export async function withinAttempt<T>(act: () => Promise<T>): Promise<T> {
  const calls = currentRun()?.calls;
  if (!calls) return act();
  let end: (() => void) | undefined;
  // A promise of its own: with a second reader, that of the call would lose the caller from the stack of its error.
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
