import { logger } from '@millrace/sdk';
import type { PublishedSettings } from '@millrace/contract/runner';

interface SpanOptions {
  readonly attributes?: Readonly<Record<string, unknown>>;
  readonly icon?: string;
}

interface Span {
  recordException(error: Error): void;
  setStatus(status: { readonly code: number; readonly message?: string }): void;
  end(): void;
}

interface Tracer {
  startSpan(name: string, options: SpanOptions): Span;
  startActiveSpan<T>(name: string, options: SpanOptions, act: (span: Span) => T): T;
}

/** The global object that copies of `@opentelemetry/api` share. Our executor registers a tracer there that stores spans with their run. */
const slot = Symbol.for('opentelemetry.js.api.1');
const tracer = (): Tracer | undefined =>
  (globalThis as { [slot]?: { trace?: { getTracer(name: string): Tracer } } })[slot]?.trace?.getTracer(
    '@trigger.dev/sdk',
  );

/** `SpanStatusCode.ERROR` of OpenTelemetry. */
const failedStatus = 2;

const levels = ['none', 'error', 'warn', 'info', 'debug'];

const optionsOf = ({ icon, attributes, ...rest }: SpanOptions = {}): SpanOptions => ({
  ...rest,
  attributes: { ...attributes, ...(icon !== undefined && { '$style.icon': icon }) },
});

/** Their `logger` API. */
export function loggerApi(setting: NonNullable<PublishedSettings['logLevel']> = 'info'): object {
  const level = levels.indexOf(setting);
  const write =
    (method: 'debug' | 'log' | 'info' | 'warn' | 'error', least: number) =>
    (message: string, properties?: Record<string, unknown>): void => {
      if (level >= least) logger[method](message, properties);
    };
  return {
    debug: write('debug', 4),
    log: write('log', 3),
    info: write('info', 3),
    warn: write('warn', 2),
    error: write('error', 1),
    trace: (name: string, act: (span: unknown) => Promise<unknown>, options?: SpanOptions) =>
      traced(name, act, options),
    startSpan: (name: string, options?: SpanOptions) => tracer()?.startSpan(name, optionsOf(options)),
  };
}

async function traced(
  name: string,
  act: (span: unknown) => Promise<unknown>,
  options?: SpanOptions,
): Promise<unknown> {
  const spans = tracer();
  if (!spans) return act({});
  return spans.startActiveSpan(name, optionsOf(options), async (span) => {
    try {
      return await act(span);
    } catch (error) {
      span.recordException(error instanceof Error ? error : new Error(String(error)));
      span.setStatus({ code: failedStatus });
      throw error;
    } finally {
      span.end();
    }
  });
}
