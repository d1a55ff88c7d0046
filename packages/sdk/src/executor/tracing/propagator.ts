import { readTraceparent } from './attempt-trace.ts';
import { spanOf, UnrecordedSpan, withSpan, type Context } from './context.ts';

interface Setter {
  set(carrier: unknown, name: string, value: string): void;
}

interface Getter {
  get(carrier: unknown, name: string): string | readonly string[] | undefined;
}

/** The API's propagator for W3C trace context, so that traces continue in the services that a task calls. */
export const propagator = {
  inject(context: Context, carrier: unknown, setter: Setter): void {
    const span = spanOf(context)?.spanContext();
    if (!span || /^0*$/.test(span.traceId)) return;
    const flags = span.traceFlags.toString(16).padStart(2, '0');
    setter.set(carrier, 'traceparent', `00-${span.traceId}-${span.spanId}-${flags}`);
  },

  extract(context: Context, carrier: unknown, getter: Getter): Context {
    const header = getter.get(carrier, 'traceparent');
    const caller = readTraceparent(typeof header === 'string' ? header : header?.[0]);
    return caller ? withSpan(context, new UnrecordedSpan(caller)) : context;
  },

  fields: () => ['traceparent'],
};
