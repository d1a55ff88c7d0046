import { context, propagation, SpanKind, SpanStatusCode, trace as api } from '@opentelemetry/api';
import { spanLimits, type EndedSpan } from '@millrace/contract/spans';
import { beforeAll, expect, test } from 'vitest';
import { task, trace } from '../../index.ts';
import type { RunArguments } from '../../task/definition.ts';
import type { RunSpans } from '../../run-scope.ts';
import { currentTraceparent } from '../../tracing/global-api.ts';
import { assignmentOf, environment } from '../../testing/assignment.ts';
import { execute } from '../execute.ts';
import type { ExecuteOptions } from '../execute-options.ts';
import { registerTracing } from './register.ts';

// As in a library that is imported before anything is registered.
const early = api.getTracer('early');
beforeAll(() => {
  registerTracing();
});

type Run = (payload: unknown, args: RunArguments) => unknown;

async function traced(run: Run, changes: Partial<ExecuteOptions> = {}) {
  const chunks: RunSpans[] = [];
  const outcome = await execute({
    task: task({ id: 'charge', run }),
    assignment: assignmentOf(),
    environment,
    signal: new AbortController().signal,
    onLog() {},
    onSpan: (spans) => void chunks.push(spans),
    ...changes,
  });
  const spans = chunks.flatMap((chunk) => chunk.spans);
  const named = (name: string): EndedSpan => {
    const span = spans.find((candidate) => candidate.name === name);
    if (!span) throw new Error(`no span ${name}`);
    return span;
  };
  const dropped = chunks.reduce((sum, chunk) => sum + (chunk.dropped ?? 0), 0);
  return { outcome, chunks, spans, named, dropped };
}

const turn = () => new Promise((resolve) => setTimeout(resolve, 2));

test('trace() and the OpenTelemetry API nest in each other, across waits', async () => {
  const { spans, named, chunks } = await traced(async () => {
    await trace('outer', async (span) => {
      span.setAttribute('pages', 3);
      await turn();
      const tracer = api.getTracer('library');
      const inner = tracer.startSpan('inner', { kind: SpanKind.CLIENT, attributes: { sql: 'select 1' } });
      await context.with(api.setSpan(context.active(), inner), async () => {
        await turn();
        trace('innermost', () => expect(api.getActiveSpan()?.isRecording()).toBe(true));
      });
      inner.setStatus({ code: SpanStatusCode.ERROR, message: 'no rows' });
      inner.end();
    });
    trace('beside', () => undefined);
  });
  expect(spans.map(({ name }) => name)).toEqual(['innermost', 'inner', 'outer', 'beside']);
  expect(named('innermost').parent).toBe(named('inner').id);
  expect(named('inner')).toMatchObject({
    parent: named('outer').id,
    kind: 'client',
    attributes: { sql: 'select 1' },
    status: 'error',
    message: 'no rows',
    scope: 'library',
  });
  expect(named('outer')).toMatchObject({ attributes: { pages: 3 }, scope: '@millrace/sdk' });
  expect([named('outer').parent, named('beside').parent]).toEqual([undefined, undefined]);
  expect(new Set(chunks.map((chunk) => chunk.trace)).size).toBe(1);
  for (const { id, at, took } of spans) {
    expect(id).toMatch(/^[0-9a-f]{16}$/);
    expect(Math.abs(at / 1_000 - Date.now())).toBeLessThan(10_000);
    expect(took).toBeGreaterThanOrEqual(0);
  }
  expect(named('outer').took).toBeGreaterThanOrEqual(named('inner').took);
});

test('spans of runs that execute at the same time remain separate', async () => {
  const run = (name: string) => () => trace(name, async () => (await turn(), trace(`${name} inner`, turn)));
  const all = await Promise.all(
    ['a', 'b'].map((name) => traced(run(name), { assignment: assignmentOf({ run: `run_${name}` }) })),
  );
  expect(all.map(({ spans }) => spans.map(({ name }) => name))).toEqual([
    ['a inner', 'a'],
    ['b inner', 'b'],
  ]);
  expect(all[0]?.chunks[0]?.trace).not.toBe(all[1]?.chunks[0]?.trace);
});

test('an error of the code is recorded and rethrown', async () => {
  const { outcome, named } = await traced(async () => {
    await trace('fails', async () => {
      await turn();
      throw new TypeError('not a number');
    });
  });
  expect(outcome).toMatchObject({ kind: 'retry', error: { message: 'not a number' } });
  expect(named('fails')).toMatchObject({
    status: 'error',
    message: 'not a number',
    events: [{ name: 'exception', attributes: { 'exception.type': 'TypeError' } }],
  });
});

test("the caller's trace continues through the attempt into its calls", async () => {
  const caller = { trace: 'c'.repeat(32), span: 'd'.repeat(16) };
  const traceparent = `00-${caller.trace}-${caller.span}-01`;
  const seen: (string | undefined)[] = [];
  const { named, chunks } = await traced(
    () => {
      seen.push(currentTraceparent());
      trace('call', () => seen.push(currentTraceparent()));
    },
    { assignment: assignmentOf({ traceparent }) },
  );
  expect(chunks[0]).toMatchObject({ trace: caller.trace });
  expect(named('call').parent).toBeUndefined();
  const [outside, inside] = seen;
  expect(outside).toMatch(new RegExp(`^00-${caller.trace}-[0-9a-f]{16}-01$`));
  expect(outside).not.toContain(caller.span);
  expect(inside).toBe(`00-${caller.trace}-${named('call').id}-01`);
  // For an unsampled caller, nothing is exported, but the spans are stored.
  const unsampled = await traced(() => trace('call', () => seen.push(currentTraceparent())), {
    assignment: assignmentOf({ traceparent: `00-${caller.trace}-${caller.span}-00` }),
  });
  expect(unsampled.chunks).toMatchObject([{ sampled: false, spans: [{ name: 'call' }] }]);
  expect(seen.at(-1)).toMatch(/-00$/);
});

test('untraced code passes no trace on', async () => {
  const seen: unknown[] = [];
  for (const traceparent of [null, 'nonsense', `00-${'0'.repeat(32)}-${'1'.repeat(16)}-01`]) {
    await traced(() => seen.push(currentTraceparent()), { assignment: assignmentOf({ traceparent }) });
  }
  expect(seen).toEqual([undefined, undefined, undefined]);
  // Outside of runs, there is no run to store a span with.
  expect(trace('outside', () => api.getActiveSpan()?.isRecording())).toBe(false);
});

test('a trace from headers is continued', async () => {
  const carrier = { traceparent: `00-${'e'.repeat(32)}-${'f'.repeat(16)}-01` };
  const { named } = await traced(() => {
    const from = propagation.extract(context.active(), carrier);
    context.with(from, () => trace('handle', () => undefined));
  });
  expect(named('handle')).toMatchObject({ trace: 'e'.repeat(32), parent: 'f'.repeat(16) });
});

test('hostile spans are cut to the limits, and the run continues', async () => {
  const long = 'x'.repeat(100_000);
  const { outcome, named, spans, dropped } = await traced(() => {
    trace(long, (span) => {
      for (let n = 0; n < 200; n += 1) {
        span.setAttribute(`k${n}`, long);
        span.addEvent('e', { long });
      }
    });
    const odd = api.getTracer('odd').startSpan('odd', { startTime: [Number.NaN, -1], kind: 99 as SpanKind });
    odd
      .setAttributes(null as never)
      .setAttribute('a', { b: 1 } as never)
      .setStatus(undefined as never);
    odd.recordException(null as never);
    odd.end(new Date(Number.NaN));
    odd.end();
    // A clock that runs backwards.
    api
      .getTracer('odd')
      .startSpan('back', { startTime: Date.now() + 60_000 })
      .end(Date.now() - 60_000);
    const deeper = (level: number): void =>
      trace(`level ${level}`, () => level < 500 && deeper(level + 1)) as never;
    deeper(1);
    for (let n = 0; n < spanLimits.perAttempt; n += 1) trace('many', () => undefined);
    return 'done';
  });
  expect(outcome).toMatchObject({ kind: 'completed', output: 'done' });
  expect(spans).toHaveLength(spanLimits.perAttempt);
  expect(dropped).toBe(503);
  const wide = spans.find(({ name }) => name.startsWith('xxx'));
  expect(Object.keys(wide?.attributes ?? {})).toHaveLength(spanLimits.attributes);
  expect(wide?.events).toHaveLength(spanLimits.events);
  expect(wide).toMatchObject({ omitted: 200 - spanLimits.attributes + 200 - spanLimits.events });
  expect(JSON.stringify(wide).length).toBeLessThan(300_000);
  expect(named('back').took).toBe(0);
  const parents = new Map(spans.map(({ id, parent }) => [id, parent]));
  let levels = 0;
  for (let id: string | undefined = named('level 500').id; id !== undefined; id = parents.get(id))
    levels += 1;
  expect(levels).toBe(spanLimits.depth);
});

test('a tracer created before anything was registered records nothing, and throws nothing', async () => {
  const { spans } = await traced(() => early.startActiveSpan('early', (span) => span.end()));
  expect(spans).toEqual([]);
});
