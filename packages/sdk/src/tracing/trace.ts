import { sdkVersion } from '../sdk-version.ts';
import { globalApi, type ApiSpan, type TraceAttributes, type TraceSpan } from './global-api.ts';

export type { TraceAttributes, TraceSpan } from './global-api.ts';

const errorStatus = 2;

const noSpan: TraceSpan = {
  setAttribute: () => noSpan,
  setAttributes: () => noSpan,
  addEvent: () => noSpan,
  updateName: () => noSpan,
};

/**
 * Runs `act` in a span, which is stored with the run and shown in its timeline. Spans that start inside it become its children, including those
 * of libraries that use OpenTelemetry. The span ends when `act` returns, or when its promise settles; an error is recorded and rethrown.
 *
 * Outside of runs the span goes to the OpenTelemetry provider of the process. Without a provider, `act` is called without a span.
 *
 * @example
 * const invoice = await trace('render invoice', async (span) => {
 *   span.setAttribute('invoice.pages', pages.length);
 *   return render(pages);
 * });
 */
export function trace<T>(
  name: string,
  act: (span: TraceSpan) => T,
  { attributes }: { readonly attributes?: TraceAttributes } = {},
): T {
  const provider = globalApi()?.trace;
  if (!provider) return act(noSpan);
  const tracer = provider.getTracer('@millrace/sdk', sdkVersion);
  return tracer.startActiveSpan(name, { attributes }, (span) => within(span, act));
}

function within<T>(span: ApiSpan, act: (span: TraceSpan) => T): T {
  let result: T;
  try {
    result = act(span);
  } catch (error) {
    fail(span, error);
    throw error;
  }
  if (!isThenable(result)) {
    span.end();
    return result;
  }
  return result.then(
    (value) => {
      span.end();
      return value;
    },
    (error: unknown) => {
      fail(span, error);
      throw error;
    },
  ) as T;
}

function fail(span: ApiSpan, error: unknown): void {
  const exception = error instanceof Error ? error : String(error);
  span.recordException(exception);
  span.setStatus({ code: errorStatus, message: error instanceof Error ? error.message : String(error) });
  span.end();
}

const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
