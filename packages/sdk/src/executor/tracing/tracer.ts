import { spanKinds, spanLimits } from '@millrace/contract/spans';
import { attemptTrace } from './attempt-trace.ts';
import { contexts, isSuppressed, spanOf, UnrecordedSpan, withSpan, type Context } from './context.ts';
import type { SpanContext } from './span-context.ts';
import { RunSpan } from './span.ts';

interface StartOptions {
  readonly kind?: number;
  readonly attributes?: unknown;
  readonly startTime?: unknown;
  readonly root?: boolean;
}

type Started = RunSpan | UnrecordedSpan;

const outside: SpanContext = { traceId: '0'.repeat(32), spanId: '0'.repeat(16), traceFlags: 0 };

/** A tracer of the OpenTelemetry API: spans of runs are stored with them; other spans are not recorded. */
export class RunTracer {
  readonly #scope: string;

  constructor(scope: string) {
    this.#scope = scope;
  }

  startSpan(name: string, options: StartOptions = {}, context: Context = contexts.active()): Started {
    const attempt = attemptTrace();
    const active = options.root ? undefined : spanOf(context);
    const above = active?.spanContext();
    if (!attempt || isSuppressed(context)) return new UnrecordedSpan(above ?? outside);
    if (attempt.count >= spanLimits.perAttempt) {
      attempt.scope.onSpan?.({ trace: attempt.traceId, spans: [], dropped: 1 });
      return new UnrecordedSpan(above ?? { ...outside, traceId: attempt.traceId, spanId: attempt.spanId });
    }
    attempt.count += 1;
    const parent = active instanceof RunSpan && active.isOf(attempt) ? active : undefined;
    const isDeepest = parent !== undefined && parent.depth >= spanLimits.depth;
    const parentId = isDeepest ? parent.parent : above?.spanId;
    return new RunSpan({
      attempt,
      context: {
        traceId: options.root ? randomHex(32) : (validTrace(above) ?? attempt.traceId),
        spanId: randomHex(16),
        traceFlags: above?.traceFlags ?? 1,
      },
      parent: parentId === attempt.spanId || parentId === outside.spanId ? undefined : parentId,
      depth: isDeepest ? parent.depth : (parent?.depth ?? 0) + 1,
      name,
      kind: options.kind ? spanKinds[options.kind] : undefined,
      scope: this.#scope,
      startTime: options.startTime,
      attributes: options.attributes,
    });
  }

  startActiveSpan<R>(name: string, ...rest: readonly unknown[]): R {
    const act = rest.at(-1) as (span: Started) => R;
    const [options, context] = rest.length > 1 ? (rest as [StartOptions?, Context?]) : [];
    const above = typeof context === 'function' || context === undefined ? contexts.active() : context;
    const span = this.startSpan(name, options ?? {}, above);
    return contexts.with(withSpan(above, span), () => act(span));
  }
}

const validTrace = (context: SpanContext | undefined): string | undefined =>
  context && context.traceId !== outside.traceId ? context.traceId : undefined;

function randomHex(length: number): string {
  let text = '';
  while (text.length < length)
    text += Math.floor(Math.random() * 0x1_0000_0000)
      .toString(16)
      .padStart(8, '0');
  // An id of all zeros is invalid.
  return /[^0]/.test(text) ? text : randomHex(length);
}
