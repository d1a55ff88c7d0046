/** A model calls tasks: the real AI SDK with its mock model, a real server and a real runner. */
import { asTool } from '@millrace/sdk/ai';
import { configure, runs, task } from '@millrace/sdk';
import * as ai5 from 'ai';
import { MockLanguageModelV2 } from 'ai/test';
import * as ai6 from 'ai-6';
import { MockLanguageModelV3 } from 'ai-6/test';
import { expect, expectTypeOf, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { startProject } from '../support/project.ts';
import { testServer } from '../support/server.ts';

const tasks = `
import { task, wait } from '@millrace/sdk';
import { asTool } from '@millrace/sdk/ai';
import { z } from 'zod';
export const refund = task({
  id: 'refund',
  description: 'Pays back an order',
  schema: z.object({ order: z.string(), amount: z.number(), at: z.coerce.date().optional() }),
  retry: { maxAttempts: 1 },
  run: async ({ order, amount, at }, { signal }) => {
    if (amount > 100) throw new RangeError('too much for ' + order);
    if (amount === 99) await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    return { order, refunded: amount, year: at?.getFullYear() };
  },
});
/** The agent as a task: the tool is called in the code of a run. */
export const agent = task({
  id: 'agent',
  run: async ({ amount }: { amount: number }, { ctx }) => {
    const { execute } = asTool(refund);
    const results = await Promise.allSettled([execute({ order: 'in', amount }), execute({ order: 'run', amount: 500 })]);
    return results.map((one) => (one.status === 'fulfilled' ? one.value : one.reason.message));
  },
});
`;

const refund = task({
  id: 'refund',
  description: 'Pays back an order',
  schema: z.object({ order: z.string(), amount: z.number(), at: z.coerce.date().optional() }),
  run: async ({ order, amount }) => ({ order, refunded: amount }),
});

const call = (amount: number) => ({
  type: 'tool-call' as const,
  toolCallId: 'call-1',
  toolName: 'refund',
  input: JSON.stringify({ order: 'A-17', amount, at: '2026-01-02' }),
});
const text = { type: 'text' as const, text: 'Done.' };

/** A generation 6 model that calls the tool, and then reports that it is done. */
const model6 = (amount: number) => {
  const usage = {
    inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: 1, text: 1, reasoning: undefined },
  };
  return new MockLanguageModelV3({
    doGenerate: [
      {
        content: [call(amount)],
        finishReason: { unified: 'tool-calls', raw: undefined },
        usage,
        warnings: [],
      },
      { content: [text], finishReason: { unified: 'stop', raw: undefined }, usage, warnings: [] },
    ],
  });
};

const model5 = (amount: number) => {
  const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
  let calls = 0;
  return new MockLanguageModelV2({
    doGenerate: async () =>
      calls++ === 0
        ? { content: [call(amount)], finishReason: 'tool-calls', usage, warnings: [] }
        : { content: [text], finishReason: 'stop', usage, warnings: [] },
  });
};

test('a model calls a task as a tool, outside and inside of a run', { timeout: 90_000 }, async () => {
  const server = await testServer();
  await startProject(server, { 'tasks/refund.ts': tasks }, ['zod']);
  configure({ baseURL: server.url, secretKey: server.keys.prod });
  onTestFinished(() => configure({}));

  const tools = { refund: asTool(refund, { trigger: { tags: ['by-agent'] } }) };
  const prompt = 'Refund A-17.';
  const output = { order: 'A-17', refunded: 5, year: 2026 };
  const model = model6(5);
  const six = await ai6.generateText({ model, prompt, tools, stopWhen: ai6.stepCountIs(3) });
  expect(six.text).toBe('Done.');
  expect(six.steps[0]?.toolResults).toMatchObject([{ toolName: 'refund', output }]);
  expect(model.doGenerateCalls[0]?.tools).toMatchObject([
    {
      name: 'refund',
      description: 'Pays back an order',
      inputSchema: { type: 'object', required: ['order', 'amount'] },
    },
  ]);
  const five = await ai5.generateText({ model: model5(5), prompt, tools, stopWhen: ai5.stepCountIs(3) });
  expect(five.steps[0]?.toolResults).toMatchObject([{ toolName: 'refund', output }]);
  const { data } = await runs.list({ tag: 'by-agent' });
  expect(data.map(({ status }) => status)).toEqual(['COMPLETED', 'COMPLETED']);

  // The model receives the error of the run.
  const failing = await ai6.generateText({ model: model6(500), prompt, tools, stopWhen: ai6.stepCountIs(3) });
  expect(failing.steps[0]?.content.find(({ type }) => type === 'tool-error')).toMatchObject({
    error: expect.objectContaining({
      name: 'SubtaskError',
      message: expect.stringMatching(/^The run run_\w+ of task refund failed: too much for A-17/) as string,
    }),
  });
  // Arguments that do not fit the schema are rejected without a run.
  const before = (await runs.list()).data.length;
  const wrong = await ai6.generateText({
    model: model6('5' as never),
    prompt,
    tools,
    stopWhen: ai6.stepCountIs(3),
  });
  expect(JSON.stringify(wrong.steps[0]?.content)).toContain('at \\"amount\\"');
  expect((await runs.list()).data).toHaveLength(before);

  const stop = new AbortController();
  const aborted = asTool(refund, { cancelOnAbort: true, trigger: { tags: ['aborted'] } }).execute(
    { order: 'B', amount: 99 },
    { abortSignal: stop.signal },
  );
  const ended = aborted.catch((error: Error) => error.message);
  await expect
    .poll(async () => (await runs.list({ tag: 'aborted' })).data[0]?.status, { timeout: 20_000 })
    .toBe('EXECUTING');
  stop.abort(new Error('enough'));
  expect(await ended).toBe('enough');
  await expect
    .poll(async () => (await runs.list({ tag: 'aborted' })).data[0]?.status, { timeout: 20_000 })
    .toBe('CANCELED');

  const { id } = (
    await server.ask('/api/v1/tasks/agent/trigger', { method: 'POST', body: { payload: { amount: 7 } } })
  ).body;
  const inside = await runs.poll(id, { pollIntervalMs: 100, timeoutInMs: 30_000 });
  expect(inside).toMatchObject({
    status: 'COMPLETED',
    output: [{ order: 'in', refunded: 7 }, expect.stringContaining('too much for run')],
  });
  expect(inside.relatedRuns.children).toHaveLength(2);
});

test('a tool has the types of its task, and a task without a schema is rejected with the fix', () => {
  const tool = asTool(refund);
  expectTypeOf(tool.execute).parameter(0).toEqualTypeOf<{ order: string; amount: number; at?: unknown }>();
  expectTypeOf(tool.execute).returns.resolves.toEqualTypeOf<{ order: string; refunded: number }>();
  const plain = task({ id: 'plain', run: async ({ a }: { a: string }) => a });
  expect(() => asTool(plain)).toThrow(/Task plain has no schema, .* Declare .*inputSchema/);
  expect(() => asTool(task({ id: 'text', schema: z.string(), run: async () => 1 }))).toThrow('Wrap it');
  expect(asTool(plain, { inputSchema: { type: 'object' }, description: 'Adds' })).toMatchObject({
    description: 'Adds',
    inputSchema: { jsonSchema: { type: 'object' } },
  });
});
