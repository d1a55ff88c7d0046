import { spanLimits, type EndedSpan, type SpanEvent, type SpanKind } from '@millrace/contract/spans';
import { boundedText } from '../../bounded-text.ts';
import { projectStack } from '../../project-stack.ts';
import { processCodec, sealing } from '../../sealing/codec.ts';
import type { AttemptTrace } from './attempt-trace.ts';
import type { SpanContext } from './span-context.ts';
import { BoundedAttributes, microseconds } from './values.ts';

export interface NewSpan {
  readonly attempt: AttemptTrace;
  readonly context: SpanContext;
  /** Undefined for a direct child of the attempt. */
  readonly parent: string | undefined;
  readonly depth: number;
  readonly name: string;
  readonly kind: SpanKind | undefined;
  readonly scope: string;
  readonly startTime: unknown;
  readonly attributes: unknown;
}

/** Spans are not sealed, so they must not contain error messages if errors are sealed. */
const sealsErrors = (): boolean => sealing(processCodec(), 'errors') !== undefined;

const okStatus = 1;
const errorStatus = 2;

/** A span of the OpenTelemetry API that is stored with its run. It is bounded in size and never throws, for any values. */
export class RunSpan {
  readonly #attempt: AttemptTrace;
  readonly #context: SpanContext;
  readonly #options: NewSpan;
  readonly #at: number;
  #name: string;
  readonly #attributes: BoundedAttributes;
  #events: SpanEvent[] = [];
  #omitted = 0;
  #status: { readonly status: 'ok' | 'error'; readonly message?: string } | undefined;
  #isEnded = false;
  readonly depth: number;
  readonly parent: string | undefined;

  constructor(options: NewSpan) {
    this.#options = options;
    this.#attempt = options.attempt;
    this.#context = options.context;
    this.depth = options.depth;
    this.parent = options.parent;
    this.#name = nameOf(options.name);
    this.#at = microseconds(options.startTime) ?? options.attempt.now();
    this.#attributes = new BoundedAttributes(spanLimits.attributes, options.attributes);
  }

  isOf(attempt: AttemptTrace): boolean {
    return this.#attempt === attempt;
  }

  spanContext(): SpanContext {
    return this.#context;
  }

  isRecording(): boolean {
    return !this.#isEnded;
  }

  setAttribute(name: unknown, value: unknown): this {
    if (!this.#isEnded) this.#attributes.set(name, value);
    return this;
  }

  setAttributes(attributes: unknown): this {
    if (!this.#isEnded) this.#attributes.setAll(attributes);
    return this;
  }

  addEvent(name: unknown, attributesOrTime?: unknown, time?: unknown): this {
    if (this.#isEnded) return this;
    if (this.#events.length >= spanLimits.events) {
      this.#omitted += 1;
      return this;
    }
    const moment = microseconds(time ?? attributesOrTime) ?? this.#attempt.now();
    const attributes = new BoundedAttributes(
      spanLimits.eventAttributes,
      isTime(attributesOrTime) ? undefined : attributesOrTime,
    );
    this.#omitted += attributes.omitted;
    const { all } = attributes;
    this.#events.push({ name: nameOf(name), at: moment, ...(all && { attributes: all }) });
    return this;
  }

  /** Links are not stored. */
  addLink(): this {
    return this;
  }

  addLinks(): this {
    return this;
  }

  setStatus(status: { readonly code?: unknown; readonly message?: unknown } | undefined): this {
    // As OpenTelemetry specifies: a status of ok is final, and a status is never unset.
    if (this.#isEnded || this.#status?.status === 'ok') return this;
    if (status?.code === okStatus) this.#status = { status: 'ok' };
    else if (status?.code === errorStatus) {
      const { message } = status;
      this.#status = {
        status: 'error',
        ...(typeof message === 'string' &&
          !sealsErrors() && { message: boundedText(message, spanLimits.text) }),
      };
    }
    return this;
  }

  updateName(name: unknown): this {
    if (!this.#isEnded) this.#name = nameOf(name);
    return this;
  }

  recordException(thrown: unknown, time?: unknown): void {
    const { name, code, message, stack } =
      typeof thrown === 'object' && thrown !== null
        ? (thrown as { name?: unknown; code?: unknown; message?: unknown; stack?: unknown })
        : { message: thrown };
    this.addEvent(
      'exception',
      {
        'exception.type': code === undefined ? name : String(code),
        ...(!sealsErrors() && {
          'exception.message': message,
          'exception.stacktrace': typeof stack === 'string' ? projectStack(stack) : stack,
        }),
      },
      time,
    );
  }

  end(time?: unknown): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    const { kind, scope, parent } = this.#options;
    const attributes = this.#attributes.all;
    const omitted = this.#omitted + this.#attributes.omitted;
    const until = microseconds(time) ?? this.#attempt.now();
    const span: EndedSpan = {
      id: this.#context.spanId,
      ...(parent !== undefined && { parent }),
      ...(this.#context.traceId !== this.#attempt.traceId && { trace: this.#context.traceId }),
      name: this.#name,
      ...(kind !== undefined && { kind }),
      at: this.#at,
      took: Math.max(0, until - this.#at),
      ...this.#status,
      ...(attributes && { attributes }),
      ...(this.#events.length > 0 && { events: this.#events }),
      scope,
      ...(omitted > 0 && { omitted }),
    };
    const { scope: run, traceId, isSampled } = this.#attempt;
    run.onSpan?.({ trace: traceId, spans: [span], ...(!isSampled && { sampled: false }) });
  }
}

const nameOf = (name: unknown): string => boundedText(String(name), spanLimits.name) || 'unnamed';
const isTime = (value: unknown): boolean =>
  Array.isArray(value) || value instanceof Date || typeof value === 'number';
