import { hash } from 'node:crypto';
import { currentRun, type RunScope } from '../../run-scope.ts';
import type { SpanContext } from './span-context.ts';

/** The trace of one attempt, created when its code is first traced. */
export interface AttemptTrace {
  readonly scope: RunScope;
  readonly traceId: string;
  /** The id of the attempt's own span, which the server exports. */
  readonly spanId: string;
  readonly isSampled: boolean;
  /** The span context of the trigger's caller; undefined if there is none. */
  readonly inherited: SpanContext | undefined;
  /** Microseconds since 1970, by a monotonic clock; the wall clock is read only once. */
  readonly now: () => number;
  /** The number of spans started so far. */
  count: number;
}

const traces = new WeakMap<object, AttemptTrace>();

/** The trace of the attempt to which the calling code belongs. Undefined outside of runs, and where spans are not recorded. */
export function attemptTrace(): AttemptTrace | undefined {
  const scope = currentRun();
  if (!scope?.onSpan) return undefined;
  const known = traces.get(scope);
  if (known) return known;
  const caller = readTraceparent(scope.traceparent);
  const spanId = digest(`${scope.run}#${scope.attempt}`).slice(0, 16);
  const wall = Date.now();
  const from = performance.now();
  const trace: AttemptTrace = {
    scope,
    traceId: caller?.traceId ?? digest(scope.run).slice(0, 32),
    spanId,
    isSampled: caller === undefined || caller.traceFlags % 2 === 1,
    inherited: caller && { ...caller, spanId },
    now: () => Math.round((wall + performance.now() - from) * 1_000),
    count: 0,
  };
  traces.set(scope, trace);
  return trace;
}

/** The server derives the same ids. */
const digest = (text: string): string => hash('sha256', text, 'hex');

/** A W3C trace context; undefined if the text is invalid. */
export function readTraceparent(text: unknown): SpanContext | undefined {
  if (typeof text !== 'string') return undefined;
  const [, traceId, spanId, flags] =
    /^\s*(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?\s*$/.exec(
      text,
    ) ?? [];
  if (traceId === undefined || spanId === undefined) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags ?? '00', 16), isRemote: true };
}
