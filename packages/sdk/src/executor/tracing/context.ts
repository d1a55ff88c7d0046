import { AsyncLocalStorage } from 'node:async_hooks';
import { currentRun } from '../../run-scope.ts';
import { attemptTrace } from './attempt-trace.ts';
import type { SpanContext } from './span-context.ts';

/** A context of the OpenTelemetry API: immutable values by key. */
export interface Context {
  getValue(key: symbol): unknown;
  setValue(key: symbol, value: unknown): Context;
  deleteValue(key: symbol): Context;
}

/** The keys of the API and its SDK, the same in all copies. */
const spanKey = Symbol.for('OpenTelemetry Context Key SPAN');
const suppressKey = Symbol.for('OpenTelemetry SDK Context Key SUPPRESS_TRACING');

class Values implements Context {
  readonly #values: ReadonlyMap<symbol, unknown>;

  constructor(values: ReadonlyMap<symbol, unknown> = new Map()) {
    this.#values = values;
  }

  getValue(key: symbol): unknown {
    return this.#values.get(key);
  }

  setValue(key: symbol, value: unknown): Context {
    return new Values(new Map(this.#values).set(key, value));
  }

  deleteValue(key: symbol): Context {
    const values = new Map(this.#values);
    values.delete(key);
    return new Values(values);
  }
}

const root: Context = new Values();
/** Created when the first context is entered, so a process whose code traces nothing has none. */
let entered: AsyncLocalStorage<Context> | undefined;

export const withSpan = (context: Context, span: unknown): Context => context.setValue(spanKey, span);

export const spanOf = (context: Context): { spanContext(): SpanContext } | undefined =>
  context.getValue(spanKey) as { spanContext(): SpanContext } | undefined;

export const isSuppressed = (context: Context): boolean => context.getValue(suppressKey) === true;

/** A span that records nothing and only propagates its position in a trace. */
export class UnrecordedSpan {
  readonly #context: SpanContext;

  constructor(context: SpanContext) {
    this.#context = context;
  }

  spanContext = (): SpanContext => this.#context;
  isRecording = (): boolean => false;
  end(): void {}
  recordException(): void {}
  setAttribute = (): this => this;
  setAttributes = (): this => this;
  addEvent = (): this => this;
  addLink = (): this => this;
  addLinks = (): this => this;
  setStatus = (): this => this;
  updateName = (): this => this;
}

/** The API's context manager. The code of an attempt starts in the trace context of the run, if its trigger had one. */
export const contexts = {
  active(): Context {
    const context = entered?.getStore();
    if (context) return context;
    // Most runs do not have a caller that is traced.
    const inherited = currentRun()?.traceparent === undefined ? undefined : attemptTrace()?.inherited;
    return inherited ? withSpan(root, new UnrecordedSpan(inherited)) : root;
  },

  with<A extends unknown[], R>(context: Context, act: (...args: A) => R, self?: unknown, ...args: A): R {
    entered ??= new AsyncLocalStorage();
    return entered.run(context, () => act.apply(self, args));
  },

  /** Only functions are bound: listeners of emitters keep the context in which they were added. */
  bind<T>(context: Context, target: T): T {
    if (typeof target !== 'function') return target;
    const act = target as unknown as (...args: unknown[]) => unknown;
    return function bound(this: unknown, ...args: unknown[]) {
      return contexts.with(context, act, this, ...args);
    } as T;
  },

  enable: () => contexts,
  disable: () => contexts,
};
