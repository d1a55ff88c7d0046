/**
 * The global object that all copies of `@opentelemetry/api` in a process share. Reading it here does not load that package, so the SDK works
 * with the project's own copy, or without one.
 */
export interface GlobalApi {
  readonly version: string;
  readonly trace?: { getTracer(name: string, version?: string): Tracer };
  readonly context?: { active(): unknown };
  readonly propagation?: {
    inject(
      context: unknown,
      carrier: Record<string, string>,
      setter: { set(carrier: Record<string, string>, name: string, value: string): void },
    ): void;
  };
}

interface Tracer {
  startActiveSpan<T>(
    name: string,
    options: { readonly attributes?: TraceAttributes | undefined },
    act: (span: ApiSpan) => T,
  ): T;
}

export type TraceAttributes = Readonly<
  Record<string, string | number | boolean | readonly string[] | undefined>
>;

export interface ApiSpan extends TraceSpan {
  setStatus(status: { readonly code: number; readonly message?: string }): unknown;
  recordException(exception: Error | string): void;
  end(): void;
}

/** The span of a `trace` call. */
export interface TraceSpan {
  setAttribute(name: string, value: string | number | boolean | string[]): unknown;
  setAttributes(attributes: Record<string, string | number | boolean | string[] | undefined>): unknown;
  /** Records an event at a point in time within the span. */
  addEvent(
    name: string,
    attributes?: Record<string, string | number | boolean | string[] | undefined>,
  ): unknown;
  updateName(name: string): unknown;
}

const slot = Symbol.for('opentelemetry.js.api.1');

export const globalApi = (): GlobalApi | undefined => (globalThis as { [slot]?: GlobalApi })[slot];

/** Sets the shared object, unless the process already has one. */
export function registerGlobalApi(api: GlobalApi): boolean {
  const holder = globalThis as { [slot]?: GlobalApi };
  if (holder[slot]) return false;
  holder[slot] = api;
  return true;
}

const setter = {
  set(carrier: Record<string, string>, name: string, value: string): void {
    carrier[name] = value;
  },
};

/** The W3C trace context of the calling code; undefined if it is not traced. */
export function currentTraceparent(): string | undefined {
  const api = globalApi();
  if (!api?.context || !api.propagation) return undefined;
  const carrier: Record<string, string> = {};
  api.propagation.inject(api.context.active(), carrier, setter);
  return carrier['traceparent'];
}
