import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  auth,
  batch,
  configure,
  isSealed,
  logs,
  metadata,
  runs,
  SealedError,
  tasks,
  wait,
} from '@millrace/sdk';
import { aesGcmCodec } from '@millrace/sdk/codec';
import { trigger } from '@millrace/sdk/transactions';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { millrace } from '../cli/command.ts';
import { startProject } from '../support/project.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { installOutbox, open, piecesOf } from '../transactions/outbox.ts';
import { canary, codecFile, configFile, holdKeys, keys, sealingTasks } from './project.ts';
import { tablesWith } from './scan.ts';

const codecWith = (current: 'k1' | 'k2') =>
  aesGcmCodec({
    keys: { k1: { env: 'CODEC_KEY_1' }, k2: { env: 'CODEC_KEY_2' } },
    current,
    boundTo: 'test/prod',
  });

const ends: (() => unknown)[] = [];
let server: TestServer;
let dir: string;
/** All API responses that were read without a codec. */
const answers: string[] = [];

const use = (codec?: ReturnType<typeof aesGcmCodec> | null): void =>
  configure({ baseURL: server.url, secretKey: server.keys.prod, ...(codec !== undefined && { codec }) });

const ended = (id: string) => runs.poll(id, { timeoutInMs: 30_000, pollIntervalMs: 50 });
const pair = { word: `word ${canary}` };

/** A run in the API response for a client without a codec. */
async function raw(path: string) {
  const { body } = await server.ask(path);
  answers.push(JSON.stringify(body));
  return body;
}

beforeAll(async () => {
  ends.push(holdKeys());
  server = await startTestServer((end) => ends.push(end));
  const files = {
    'tasks/all.ts': sealingTasks,
    'codec.ts': codecFile('k1'),
    'millrace.config.ts': configFile,
  };
  dir = await startProject(server, files, [], (end) => ends.push(end));
}, 60_000);

afterAll(async () => {
  for (const end of ends.toReversed()) await end();
});

test('only clients with the codec read payload and output as clear text', async () => {
  use(codecWith('k1'));
  const { id } = await tasks.trigger(
    'echo',
    { at: new Date(7), list: [canary] },
    { metadata: { of: canary, n: 1 } },
  );
  const run = await ended(id);
  expect(run).toMatchObject({
    status: 'COMPLETED',
    payload: { at: '1970-01-01T00:00:00.007Z', list: [canary] },
    output: { echoed: { at: '1970-01-01T00:00:00.007Z', list: [canary] }, secret: `out ${canary}` },
    metadata: { of: canary, n: 1 },
  });
  const response = await raw(`/api/v3/runs/${id}`);
  expect(response.payload).toEqual({
    $sealed: { key: 'k1', for: 'payload echo', type: 'application/super+json', data: expect.any(String) },
  });
  expect(response.output).toMatchObject({ $sealed: { key: 'k1', for: `output ${id}` } });
  expect(response.metadata).toMatchObject({ n: 1, of: { $sealed: { for: 'metadata' } } });
  use();
  const without = await runs.retrieve(id);
  expect([isSealed(without.payload), isSealed(without.output)]).toEqual([true, true]);
  use(codecWith('k1'));
  for await (const seen of runs.subscribeToRun(id)) expect(seen.output).toEqual(run.output);
});

test('steps, waits, child runs, batches, tokens, metadata, logs and errors of a run that is retried and replayed', async () => {
  use(codecWith('k2'));
  const { id } = await tasks.trigger('flow', pair);
  const run = await ended(id);
  expect(run.error).toBeUndefined();
  const { word } = pair;
  const output = {
    before: {},
    stored: { word, calls: 1 },
    date: true,
    flaky: `step ${word}`,
    fromChild: { answer: word },
    failed: `child said ${word}`,
    stepped: { answer: word },
    batch: [{ answer: word }, { echoed: word, secret: `out ${canary}` }],
    approval: { approved: true, by: word },
    traced: `in span ${word}`,
    metadata: { status: { text: `at work ${word}`, percent: 50 }, done: 4 },
  };
  expect(run).toMatchObject({ status: 'COMPLETED', attemptCount: 2 });
  expect(run.output).toMatchObject({ ...output, before: expect.anything() });
  expect(run.metadata).toMatchObject({
    status: { text: `at work ${word}`, percent: 50 },
    words: [word, word, word, word],
  });
  expect(await metadata.current({ run: id })).toEqual(run.metadata);

  const { data: lines } = await runs.logs(id);
  const messages = lines.map((line) => line.message);
  expect(messages).toEqual(expect.arrayContaining([`console ${word}`, `logger ${word}`]));
  expect(lines.find((line) => line.message === `logger ${word}`)?.properties).toEqual({ word, n: 1 });
  const { data: attempts } = await runs.attempts(id);
  expect(attempts[0]?.error).toMatchObject({ name: 'Error', message: `first attempt ${word}` });
  const { data: steps } = await runs.steps(id);
  const step = (name: string) => steps.find((entry) => entry.name === name);
  expect(step('work')?.output).toMatchObject({ word });
  expect(step('bad')?.error).toMatchObject({ name: 'SyntaxError', message: `step ${word}` });
  expect(step('ask')?.output).toEqual({ answer: word });

  const replayed = await ended((await runs.replay(id)).id);
  expect(replayed).toMatchObject({ status: 'COMPLETED', payload: pair });
  const fromStep = await ended((await runs.replay(id, { fromStep: 'ask' })).id);
  expect(fromStep.output).toMatchObject({ stored: { word, calls: 1 }, stepped: { answer: word } });
  const other = await ended((await runs.replay(id, { payload: { word: `other ${canary}` } })).id);
  expect(other.payload).toEqual({ word: `other ${canary}` });

  for (const part of ['', '/logs', '/attempts', '/steps', '/timeline', '/spans', '/result'])
    await raw(part === '' ? `/api/v3/runs/${id}` : `/api/v1/runs/${id}${part}`);
});

test('errors keep their name, location and group, but their message is sealed', async () => {
  use(codecWith('k1'));
  const ids = await Promise.all(
    [1, 2].map(async (n) => (await tasks.trigger('failing', { why: `${n} ${canary}` })).id),
  );
  const [first, second] = await Promise.all(ids.map(ended));
  expect(first?.error).toMatchObject({
    name: 'RangeError',
    message: `failed for 1 ${canary}`,
    stackTrace: expect.stringContaining('tasks/all.ts'),
    causes: [{ message: `because of 1 ${canary}` }],
  });
  expect(second?.error?.message).toBe(`failed for 2 ${canary}`);
  const response = await raw(`/api/v3/runs/${ids[0]}`);
  expect(response.error).toMatchObject({ name: 'RangeError', message: 'The message is sealed.' });
  expect(response.error.stackTrace).toMatch(/^RangeError: The message is sealed\.\n\s+at .*tasks\/all\.ts/);
  const groups = await raw('/api/v1/errors');
  expect(groups.data.filter((group: { errorType: string }) => group.errorType === 'RangeError')).toHaveLength(
    1,
  );

  const invalid = await ended((await tasks.trigger('invalid', { why: canary })).id);
  expect(invalid.error).toMatchObject({
    name: 'PayloadValidationError',
    message: expect.stringContaining(canary),
  });
  const exits = await ended((await tasks.trigger('exits', pair)).id);
  expect(exits.error?.message).toBe(`uncaught ${pair.word}`);
  // Lines are stored a moment after their run.
  const found = async (): Promise<string[]> => {
    const messages: string[] = [];
    for await (const { message } of logs.search({ task: 'exits' })) messages.push(message);
    return messages;
  };
  await expect.poll(found).toEqual([`before exit ${pair.word}`]);
  await raw(`/api/v1/runs/${exits.id}/logs`);
});

test('large payloads and batches, mixed with clear ones', async () => {
  use(codecWith('k1'));
  const text = canary.repeat(20_000);
  const { id } = await tasks.trigger('large', { text });
  expect((await ended(id)).output).toEqual({ length: text.length, text });
  const { batchId } = await batch.trigger([
    { id: 'echo', payload: canary, options: { metadata: { of: canary } } },
    { id: 'echo', payload: undefined },
  ]);
  const { runs: ids } = await batch.retrieve(batchId);
  const both = await Promise.all(ids.map(ended));
  expect(both.map((run) => run.payload)).toEqual([canary, undefined]);
  // Clear text from a client without a codec: a task reads it anyway.
  const { body } = await server.ask('/api/v1/tasks/echo/trigger', {
    method: 'POST',
    body: { payload: { a: 1 } },
  });
  expect((await ended(body.id)).output).toMatchObject({ echoed: { a: 1 } });
});

test('a task with a batch receives payloads that were sealed individually, and clear ones', async () => {
  use(codecWith('k1'));
  const first = await tasks.trigger('collects', { inside: canary });
  await tasks.trigger('collects', new Date(5));
  await server.ask('/api/v1/tasks/collects/trigger', { method: 'POST', body: { payload: 'clear' } });
  const run = await ended(first.id);
  expect(run.payload).toEqual([{ inside: canary }, '1970-01-01T00:00:00.005Z', 'clear']);
  expect(run.output).toEqual([
    ['object', false, { inside: canary }],
    ['object', true, '1970-01-01T00:00:00.005Z'],
    ['string', false, 'clear'],
  ]);
  await raw(`/api/v3/runs/${first.id}`);
});

test('only clients with the codec open the data of a token', async () => {
  use(codecWith('k1'));
  const token = await wait.createToken();
  await wait.completeToken(token, { by: canary });
  expect((await wait.retrieveToken(token)).output).toEqual({ by: canary });
  await raw(`/api/v1/waitpoints/tokens/${token.id}`);
  use(null);
  await expect(wait.retrieveToken(token)).rejects.toThrow(/sealed with key "k1", but no codec is configured/);
});

test('another key, an unknown key or a moved envelope fails with a message, and the code does not run', async () => {
  use(codecWith('k1'));
  const { id } = await tasks.trigger('echo', { a: canary });
  await ended(id);
  const other = (more: object) =>
    aesGcmCodec({ keys: { k1: Buffer.alloc(32, 99) }, current: 'k1', boundTo: 'test/prod', ...more });
  use(other({}));
  await expect(runs.retrieve(id)).rejects.toThrow(
    /payload echo is sealed with key "k1", but cannot be opened/,
  );
  await expect(runs.retrieve(id)).rejects.toBeInstanceOf(SealedError);
  const wrong = await tasks.trigger('echo', { a: canary });
  use(codecWith('k1'));
  await expect
    .poll(async () => (await raw(`/api/v3/runs/${wrong.id}`)).status, { timeout: 20_000 })
    .toBe('FAILED');
  expect((await raw(`/api/v3/runs/${wrong.id}`)).error).toMatchObject({
    name: 'SealedError',
    message: expect.stringContaining('cannot be opened with the local key of this id'),
  });
  use(aesGcmCodec({ keys: { k9: Buffer.alloc(32, 9) }, current: 'k9' }));
  const unknown = await tasks.trigger('echo', { a: canary });
  await expect(runs.retrieve(id)).rejects.toThrow(
    'sealed with key "k1", which the codec does not have; it has "k9"',
  );
  use(null);
  expect((await ended(unknown.id)).error?.message).toContain(
    'sealed with key "k9", which the codec does not have',
  );
  // An output as a payload; a payload of one task as the payload of another.
  const { payload, output } = await raw(`/api/v3/runs/${id}`);
  for (const [task, moved] of [
    ['echo', output],
    ['large', payload],
  ] as const) {
    const run = await ended((await tasks.trigger(task, moved)).id);
    expect(run).toMatchObject({
      status: 'FAILED',
      error: { name: 'SealedError', message: expect.stringContaining('moved') },
    });
  }
  // It opens when it is resent as JSON, as the dashboard does for a replay.
  expect((await ended((await tasks.trigger('echo', payload)).id)).status).toBe('COMPLETED');
});

test('a client uses its own codec, and none for calls with another credential', async () => {
  use(codecWith('k1'));
  const { id } = await auth.withAuth({ codec: null }, () => tasks.trigger('echo', 'plain'));
  expect((await ended(id)).payload).toBe('plain');
  expect((await raw(`/api/v3/runs/${id}`)).payload).toBe('plain');
});

test('metadata.remove reports that it cannot find a sealed text', async () => {
  use(codecWith('k1'));
  const { id } = await tasks.trigger('echo', 1);
  expect(() => metadata.remove('words', canary, { run: id })).toThrow(
    /cannot find values in sealed metadata/,
  );
});

test(
  'millrace runs show decrypts with the codec of the project or of --codec, and prints "sealed" without one',
  { timeout: 120_000 },
  async () => {
    use(codecWith('k1'));
    const { id } = await tasks.trigger('failing', { why: canary });
    await ended(id);
    const elsewhere = await mkdtemp(join(tmpdir(), 'millrace-codec-'));
    ends.push(() => rm(elsewhere, { recursive: true, force: true }));
    const env = { ...keys, MILLRACE_API_URL: server.url, MILLRACE_SECRET_KEY: server.keys.prod };
    const run = async (cwd: string, ...args: string[]) => {
      const command = millrace(args, { cwd, env });
      const exitCode = await command.exitCode;
      return { exitCode, text: [...command.stdout, ...command.stderr].join('\n') };
    };
    expect((await run(dir, 'runs', 'show', id)).text).toMatch(
      new RegExp(`payload +\\{"why":"${canary}"\\}[^]*RangeError: failed for ${canary}`),
    );
    const without = await run(elsewhere, 'runs', 'show', id);
    expect(without.text).toMatch(/payload +sealed with key k1/);
    expect(without.text).not.toContain(canary);
    expect((await run(elsewhere, 'runs', 'show', id, '--codec', join(dir, 'codec.ts'))).text).toContain(
      canary,
    );
    await writeFile(join(elsewhere, 'none.ts'), 'export default {};');
    expect(await run(elsewhere, 'runs', 'show', id, '--codec', 'none.ts')).toMatchObject({
      exitCode: 2,
      text: expect.stringContaining('has no codec'),
    });
    const triggered = await run(dir, 'trigger', 'echo', '--payload', `"${canary}"`, '--wait', '--json');
    expect(JSON.parse(triggered.text.split('\n').at(-1)!)).toMatchObject({ output: { echoed: canary } });
  },
);

test('a trigger in a transaction of the caller is sealed in its outbox too', async () => {
  use(codecWith('k1'));
  const sql = open(server.database);
  ends.push(() => sql.end({ timeout: 1 }));
  await installOutbox(server, sql);
  const client = new Client({ ...piecesOf(server.database), user: piecesOf(server.database).username });
  await client.connect();
  ends.push(() => client.end());
  await client.query('begin');
  const { id } = await trigger(client, 'echo', { inside: canary }, { metadata: { of: canary } });
  await client.query('commit');
  await vi.waitFor(() => raw(`/api/v3/runs/${id}`).then((run) => expect(run.id).toBe(id)), {
    timeout: 20_000,
  });
  expect(await ended(id)).toMatchObject({
    payload: { inside: canary },
    metadata: { of: canary },
    output: { echoed: { inside: canary } },
  });
});

test('no clear text is in the database, the server log or a response after all of this', async () => {
  expect(answers.length).toBeGreaterThan(15);
  expect(answers.filter((answer) => answer.includes(canary))).toEqual([]);
  expect(server.logged.filter((line) => line.includes(canary))).toEqual([]);
  expect(await tablesWith(server.database, canary)).toEqual([]);
  // The scan finds existing text.
  use(null);
  const { id } = await tasks.trigger('large', { text: `unsealed-word ${'x'.repeat(200_000)}` });
  await ended(id);
  expect(await tablesWith(server.database, 'unsealed-word')).toContain('public.packet_pieces');
  const { id: small } = await tasks.trigger('echo', 'unsealed-small');
  await ended(small);
  expect(await tablesWith(server.database, 'unsealed-small')).not.toEqual([]);
});
