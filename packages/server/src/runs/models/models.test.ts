import type { SpanAttributes, SpanChunk } from '@millrace/contract/runner';
import { expect, test } from 'vitest';
import { createStoreLines } from '../logs/store.ts';
import { runPruner } from '../retention/prune.ts';
import { testEngine } from '../testing/engine.ts';
import { modelCallOf } from './call-of-span.ts';
import { dollarsOf, microsOf, priceFinder } from './prices.ts';
import { modelPruner } from './prune.ts';
import { dayMs, modelRetentionDays, readRunUsage, readUsage, readUsageBy } from './usage.ts';

const trace = 'a'.repeat(32);
const idOf = (n: number): string => n.toString(16).padStart(16, '0');
const spanOf = (n: number, attributes: SpanAttributes) => ({
  id: idOf(n),
  name: 'chat',
  at: 1_763_900_000_000_000,
  took: 5,
  attributes,
});
const chat = (n: number, model: string, input: number, output: number, more: SpanAttributes = {}) =>
  spanOf(n, {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'openai',
    'gen_ai.response.model': model,
    'gen_ai.usage.input_tokens': input,
    'gen_ai.usage.output_tokens': output,
    ...more,
  });

async function withRuns() {
  const t = await testEngine();
  await t.register('ask', 'summarize');
  const store = createStoreLines(t.engine, t.redactor);
  const env = t.environment.id;
  const send = async (run: string, spans: SpanChunk['spans'], attempt = 1) =>
    (await store({ env, lines: [], spans: [{ run, attempt, trace, spans }] })).stored;
  const now = t.engine.clock.now();
  const today = {
    from: new Date(Math.floor(now / dayMs) * dayMs),
    to: new Date((Math.floor(now / dayMs) + 2) * dayMs),
  };
  return { t, env, send, today };
}

test('sums tokens and exact costs of a run, by model, and lists models without a price', async () => {
  const { t, env, send, today } = await withRuns();
  const { id } = await t.trigger('ask', { tags: ['customer:1', 'beta'] });
  await send(id, [
    chat(1, 'gpt-5-mini', 1_000_000, 3, { 'gen_ai.usage.cache_read.input_tokens': 400_000 }),
    chat(2, 'gpt-5-mini-2025-08-07', 7, 1),
    chat(3, 'house-model', 10, 20),
  ]);
  // 600,000 × $0.25 + 400,000 × $0.025 + 3 × $2, and 7 × $0.25 + 1 × $2, for a million each
  expect(await readRunUsage(t.sql, env, id)).toEqual({
    total: {
      calls: 3,
      unpricedCalls: 1,
      inputTokens: 1_000_017,
      cachedInputTokens: 400_000,
      cacheWriteTokens: 0,
      outputTokens: 24,
      cost: '0.16000975',
    },
    models: [
      expect.objectContaining({ provider: 'openai', model: 'gpt-5-mini', cost: '0.160006' }),
      expect.objectContaining({ model: 'gpt-5-mini-2025-08-07', cost: '0.00000375', unpricedCalls: 0 }),
      expect.objectContaining({ model: 'house-model', cost: '0', calls: 1, unpricedCalls: 1 }),
    ],
  });
  const usage = await readUsage(t.sql, env, today);
  expect(usage.total).toMatchObject({ calls: 3, cost: '0.16000975' });
  expect(usage.days.map(({ calls }) => calls).toSorted((a, b) => a - b)).toEqual([0, 3]);
  expect(usage.unpriced).toEqual([
    expect.objectContaining({ model: 'house-model', calls: 1, inputTokens: 10 }),
  ]);
});

test('a span that arrives twice counts once, and a retry counts again', async () => {
  const { t, env, send, today } = await withRuns();
  const { id } = await t.trigger('ask');
  const spans = [chat(1, 'gpt-4o', 100, 10)];
  await send(id, [...spans, ...spans]);
  await send(id, spans);
  await Promise.all([send(id, spans), send(id, spans)]);
  expect((await readRunUsage(t.sql, env, id)).total).toMatchObject({ calls: 1, inputTokens: 100 });
  await send(id, [chat(2, 'gpt-4o', 100, 10)], 2);
  expect((await readRunUsage(t.sql, env, id)).total).toMatchObject({ calls: 2, cost: '0.0007' });
  expect((await readUsage(t.sql, env, today)).total).toMatchObject({ calls: 2, cost: '0.0007' });
});

test('usage is divided and filtered by task, model and tag', async () => {
  const { t, env, send, today } = await withRuns();
  const first = await t.trigger('ask', { tags: ['a', 'b'] });
  const second = await t.trigger('summarize', { tags: ['b'] });
  await send(first.id, [chat(1, 'gpt-4o', 1_000_000, 0)]);
  await send(second.id, [chat(2, 'gpt-4.1', 1_000_000, 0), chat(3, 'gpt-4o', 1_000_000, 0)]);
  // A run that does not exist, or no longer, is not counted.
  await send('run_gone', [chat(4, 'gpt-4o', 1_000_000, 0)]);
  const by = async (...args: [Parameters<typeof readUsageBy>[3], object?]) =>
    (await readUsageBy(t.sql, env, { ...today, ...args[1] }, args[0], 10)).map(({ name, cost }) => [
      name,
      cost,
    ]);
  expect(await by('task')).toEqual([
    ['summarize', '4.5'],
    ['ask', '2.5'],
  ]);
  expect(await by('model')).toEqual([
    ['gpt-4o', '5'],
    ['gpt-4.1', '2'],
  ]);
  expect(await by('tag')).toEqual([
    ['b', '7'],
    ['a', '2.5'],
  ]);
  expect(await by('model', { tag: 'a' })).toEqual([['gpt-4o', '2.5']]);
  expect((await readUsage(t.sql, env, { ...today, task: 'summarize', model: 'gpt-4o' })).total.cost).toBe(
    '2.5',
  );
  expect((await readUsage(t.sql, env, { ...today, tag: 'b' })).total).toMatchObject({ calls: 3, cost: '7' });
  // Roll-ups remain when runs are deleted, for two years.
  await t.sql`update runs set status = 'COMPLETED', finished_at = created_at`;
  t.engine.clock.shift(31 * dayMs);
  while (await runPruner(t.engine, 30 * dayMs).tick());
  expect(await t.sql`select from model_calls`).toHaveLength(0);
  expect((await readUsage(t.sql, env, today)).total).toMatchObject({ calls: 3, cost: '7' });
  t.engine.clock.shift(modelRetentionDays * dayMs);
  while (await modelPruner(t.engine).tick());
  expect(await t.sql`select from model_days`).toHaveLength(0);
});

test("a project's prices precede the defaults, and later changes do not affect earlier calls", async () => {
  const { t, env, send } = await withRuns();
  const { id } = await t.trigger('ask');
  const { projectId } = t.environment;
  await send(id, [chat(1, 'gpt-4o', 1_000_000, 0)]);
  await t.sql`
    insert into model_prices (project_id, model, input, cached_input, cache_write, output, updated_at)
    values (${projectId}, 'gpt-4*', 1000000, null, null, 0, now()), (${projectId}, 'house*', 37500, 1, null, 0, now())`;
  await send(id, [
    chat(2, 'gpt-4o', 1_000_000, 0),
    chat(3, 'house-2', 3, 0, { 'gen_ai.usage.cache_read.input_tokens': 1 }),
    // The requested name has a price, although the one in the response has none.
    chat(4, 'snapshot-7', 1_000_000, 0, { 'gen_ai.request.model': 'house' }),
  ]);
  expect((await readRunUsage(t.sql, env, id)).total.cost).toBe('3.537500075001');
});

test('invalid and hostile attributes are ignored, and large numbers are exact', async () => {
  const { t, env, send } = await withRuns();
  const { id } = await t.trigger('ask');
  const numbers: SpanAttributes[string][] = [-1, 1.5, 1e300, 'NaN', '12', true, [1], ''];
  await send(
    id,
    numbers.map((value, n) =>
      spanOf(n, { 'gen_ai.usage.input_tokens': value, 'gen_ai.usage.output_tokens': value }),
    ),
  );
  expect((await readRunUsage(t.sql, env, id)).total).toMatchObject({ calls: 0, cost: '0' });
  await send(id, [
    spanOf(100, { 'gen_ai.usage.input_tokens': Number.NaN, 'gen_ai.usage.output_tokens': 5 }),
    chat(101, 'x'.repeat(10_000), 1, 1, { 'gen_ai.usage.cache_read.input_tokens': 9, 'gen_ai.system': '' }),
    chat(102, `o\0"'; drop table runs; --`, 1, -1),
    chat(103, 'claude-opus-4-1-20250805', 1_000_000_000, 1_000_000_000),
  ]);
  const { total, models } = await readRunUsage(t.sql, env, id);
  expect(total).toMatchObject({ calls: 4, unpricedCalls: 3, outputTokens: 1_000_000_006, cost: '90000' });
  expect(models.map(({ model }) => model.length).every((length) => length <= 128)).toBe(true);
  expect(models.find(({ model }) => model === 'unknown')).toMatchObject({
    provider: 'unknown',
    inputTokens: 0,
  });
});

test('the tokens of a span that is too large are retained', async () => {
  const { t, env, send } = await withRuns();
  const { id } = await t.trigger('ask');
  const tools = Array.from({ length: 64 }, () => 'x'.repeat(2_000));
  await send(id, [chat(1, 'gpt-4o', 100, 10, { 'ai.prompt.tools': tools })]);
  expect((await readRunUsage(t.sql, env, id)).total).toMatchObject({ calls: 1, inputTokens: 100 });
});

test('of the AI SDK and of agents, only the spans of single calls count', () => {
  const call = (attributes: SpanAttributes) => modelCallOf(spanOf(1, attributes));
  const usage = {
    'ai.usage.inputTokens': 5,
    'ai.usage.outputTokens': 2,
    'ai.model.id': 'm',
    'ai.model.provider': 'openai.responses',
  };
  expect(call({ ...usage, 'ai.operationId': 'ai.generateText' })).toBeUndefined();
  expect(
    call({ ...usage, 'ai.operationId': 'ai.generateText.doGenerate', 'ai.usage.cachedInputTokens': 3 }),
  ).toMatchObject({ provider: 'openai', model: 'm', input: 5, cached: 3, output: 2 });
  expect(
    call({ 'ai.operationId': 'ai.embed.doEmbed', 'ai.usage.tokens': 9, 'ai.model.id': 'e' }),
  ).toMatchObject({ input: 9, output: 0, model: 'e' });
  expect(call({ 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.usage.input_tokens': 5 })).toBeUndefined();
  expect(call({ 'gen_ai.system': 'anthropic', 'gen_ai.usage.prompt_tokens': 5 })).toMatchObject({
    provider: 'anthropic',
    input: 5,
  });
  expect(call({ 'http.status': 200 })).toBeUndefined();
});

test('amounts of dollars are exact in both directions, and the most exact price applies', () => {
  for (const [text, micros] of [
    ['0', 0n],
    ['2.5', 2_500_000n],
    ['0.000001', 1n],
    ['99999.999999', 99_999_999_999n],
  ] as const) {
    expect(microsOf(text)).toBe(micros);
    expect(dollarsOf(micros)).toBe(text);
  }
  const price = (input: bigint) => ({ input, cachedInput: null, cacheWrite: null, output: 0n });
  const find = priceFinder(
    new Map([
      ['a*', price(1n)],
      ['a-b*', price(2n)],
      ['a-b-c', price(3n)],
    ]),
  );
  expect(['a', 'a-x', 'a-b', 'a-b-c', 'a-b-c-d', 'b'].map((name) => find(name)?.input)).toEqual([
    1n,
    1n,
    2n,
    3n,
    2n,
    undefined,
  ]);
});
