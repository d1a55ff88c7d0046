import { hash } from 'node:crypto';
import type { SpanContext } from '@opentelemetry/api';

export interface SpanIds {
  readonly traceId: string;
  readonly spanId: string;
}

/**
 * The ids of a run's span and of its attempts' spans are derived from the run's id, so that every process and the executors use the same ones.
 * Without a traced caller, the run has its own trace.
 */
export function idsOfRun(run: string, caller: SpanContext | undefined): SpanIds {
  const digest = hash('sha256', run, 'hex');
  return { traceId: caller?.traceId ?? digest.slice(0, 32), spanId: digest.slice(32, 48) };
}

export const attemptSpanId = (run: string, attempt: number): string =>
  hash('sha256', `${run}#${attempt}`, 'hex').slice(0, 16);

/** The position in a trace that a W3C trace context describes. */
export function readTraceparent(text: string | null | undefined): SpanContext | undefined {
  const parts = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/.exec(text ?? '');
  const [, traceId, spanId, flags = '00'] = parts ?? [];
  if (traceId === undefined || spanId === undefined) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
}
