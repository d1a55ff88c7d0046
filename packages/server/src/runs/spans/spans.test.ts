import { spanLimits, type EndedSpan, type SpanChunk } from '@millrace/contract/runner';
import { expect, test } from 'vitest';
import { createRedactor } from '../../envvars/redact/redactor.ts';
import { createStoreLines } from '../logs/store.ts';
import { runPruner } from '../retention/prune.ts';
import { testEngine } from '../testing/engine.ts';
import { spanPruner } from './prune.ts';
import { readSpans } from './read.ts';

const trace = 'a'.repeat(32);
const idOf = (n: number): string => n.toString(16).padStart(16, '0');
const span = (n: number, more: Partial<EndedSpan> = {}): EndedSpan => ({
  id: idOf(n),
  name: `step ${n}`,
  at: 1_763_900_000_000_000 + n,
  took: 5,
  ...more,
});

async function withSpans(chunks: readonly unknown[], secrets: readonly string[] = []) {
  const t = await testEngine();
  const redactor = createRedactor(secrets);
  const store = createStoreLines(t.engine, () => redactor);
  const run = 'run_a';
  for (const chunk of chunks) {
    await (
      await store({
        env: t.environment.id,
        lines: [],
        spans: [{ run, attempt: 1, trace, ...(chunk as object) } as SpanChunk],
      })
    ).stored;
  }
  const read = (after?: number, limit = 1_000) =>
    readSpans(t.sql, t.environment.id, run, { ...(after !== undefined && { after }), limit });
  return { t, run, store, read };
}

test('spans are returned unchanged, a chunk at a time', async () => {
  const { read } = await withSpans([
    { spans: [span(2, { parent: idOf(1) }), span(1, { status: 'error', message: 'no', kind: 'client' })] },
    { spans: [span(3)], dropped: 7, attempt: 2 },
  ]);
  const whole = await read();
  expect(whole).toMatchObject({ dropped: 7, next: undefined });
  expect(whole.spans).toMatchObject([
    {
      id: idOf(2),
      parentId: idOf(1),
      traceId: trace,
      attempt: 1,
      kind: 'internal',
      status: 'unset',
      took: 5,
    },
    { id: idOf(1), parentId: undefined, kind: 'client', status: 'error', message: 'no' },
    { id: idOf(3), attempt: 2, name: 'step 3' },
  ]);
  const first = await read(undefined, 1);
  expect(first.spans.map(({ id }) => id)).toEqual([idOf(2), idOf(1)]);
  const second = await read(first.next, 1);
  expect(second).toMatchObject({ spans: [{ id: idOf(3) }], next: undefined });
});

test('secrets are replaced in names, attributes and events', async () => {
  const secret = 'correct-horse-battery';
  const { read } = await withSpans(
    [
      {
        spans: [
          span(1, {
            name: `GET /?key=${secret}`,
            attributes: { [`of ${secret}`]: secret, list: [secret, 1] },
            events: [{ name: secret, at: 1, attributes: { a: secret } }],
            message: `not ${secret}`,
          }),
        ],
      },
    ],
    [secret],
  );
  const { spans } = await read();
  expect(spans).toHaveLength(1);
  expect(JSON.stringify(spans)).not.toContain(secret);
});

test('input from a hostile runner is truncated to the limits, and the rest is stored', async () => {
  const long = 'x'.repeat(100_000);
  const many = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`k${n}`, n]));
  const { read, t, store, run } = await withSpans([
    { spans: [{ id: 'no id' }, null, 7, { ...span(1), at: Number.NaN }] },
    { spans: 'none' },
    {
      spans: [
        span(2, { name: long, message: long, attributes: many, took: -5 }),
        { ...span(3), parent: idOf(3), kind: 'odd', attributes: { deep: { a: [1] }, ok: [[1], 'a\0b'] } },
        span(4, {
          events: Array.from({ length: 99 }, (_, n) => ({ name: 'e', at: n, attributes: many })),
          attributes: Object.fromEntries(Array.from({ length: 64 }, (_, n) => [`k${n}`, long])),
        }),
      ],
      trace: 'no trace',
    },
  ]);
  const { spans } = await read();
  expect(spans.map(({ id }) => id)).toEqual([idOf(2), idOf(3), idOf(4)]);
  const [wide, odd, big] = spans;
  expect(Object.keys(wide!.attributes)).toHaveLength(spanLimits.attributes);
  expect(wide).toMatchObject({ omitted: 500 - spanLimits.attributes, took: 0 });
  expect(wide!.name).toMatch(/^x{256}… \(99744 more characters\)$/);
  expect(odd).toMatchObject({
    parentId: undefined,
    kind: 'internal',
    attributes: { ok: [null, 'a\uFFFDb'] },
  });
  expect(big).toMatchObject({ attributes: {}, events: [] });
  expect(big!.omitted).toBeGreaterThan(100);
  // The limit applies to each run: another run's spans are stored.
  const full = Array.from({ length: spanLimits.perAttempt }, (_, n) => span(n));
  for (let attempt = 1; attempt <= 7; attempt += 1) {
    await (
      await store({ env: t.environment.id, lines: [], spans: [{ run, attempt, trace, spans: full }] })
    ).stored;
  }
  await (
    await store({
      env: t.environment.id,
      lines: [],
      spans: [{ run: 'run_b', attempt: 1, trace, spans: [span(1)] }],
    })
  ).stored;
  const [stored] = await t.sql<{ a: number; b: number }[]>`
    select sum(count) filter (where run_id = 'run_a')::int as a, sum(count) filter (where run_id = 'run_b')::int as b from run_spans`;
  expect(stored).toEqual({ a: spanLimits.perRun + 3, b: 1 });
});

test('spans are deleted with their run, or when they are old', async () => {
  const dayMs = 86_400_000;
  const t = await testEngine();
  const { id: version } = await t.register('send');
  await t.addRunner('r');
  const { id: run } = await t.trigger('send');
  const [attempt] = await t.claim('r', [version], 1);
  const store = createStoreLines(t.engine, t.redactor);
  const spansLeft = async () => (await t.sql`select from run_spans`).length;
  await (
    await store({ env: t.environment.id, lines: [], spans: [{ run, attempt: 1, trace, spans: [span(1)] }] })
  ).stored;
  await t.end(attempt!);
  t.engine.clock.shift(13 * dayMs);
  await (
    await store({ env: t.environment.id, lines: [], spans: [{ run, attempt: 1, trace, spans: [span(2)] }] })
  ).stored;
  t.engine.clock.shift(2 * dayMs);
  await spanPruner(t.engine, 14 * dayMs).tick();
  expect(await spansLeft()).toBe(1);
  t.engine.clock.shift(20 * dayMs);
  const pruner = runPruner(t.engine, 30 * dayMs);
  while (await pruner.tick());
  expect(await spansLeft()).toBe(0);
});
