import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunStep } from '@millrace/contract';
import { configure, runs, tasks } from '@millrace/sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { finished } from '../cli/in-process.ts';
import { startProject } from '../support/project.ts';
import { sharedServer, type SharedServer } from '../support/shared-server.ts';
import { stepTasks } from './tasks.ts';

const ends: (() => Promise<void>)[] = [];
let server: SharedServer;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrace-steps-'));
  ends.push(() => rm(folder, { recursive: true, force: true }));
  server = await sharedServer();
  const { status } = await server.ask(`/api/v1/projects/${server.projectRef}/envvars/prod`, {
    method: 'POST',
    body: { name: 'SECRET_WORD', value: 'correct-horse-battery-staple', isSecret: true },
  });
  expect(status).toBe(200);
  await startProject(server, stepTasks, [], (end) => ends.push(end));
  configure({ baseURL: server.url, secretKey: server.keys.prod });
}, 60_000);

afterAll(async () => {
  for (const end of ends.toReversed()) await end();
});

let files = 0;

/** Runs a task to its end. `lines` are the lines that it wrote. */
async function execute(task: string, payload: Record<string, unknown> = {}) {
  const file = join(folder, `notes-${++files}`);
  const { id } = await tasks.trigger(task, { file, ...payload });
  const run = await runs.poll(id, { timeoutInMs: 30_000, pollIntervalMs: 50 });
  return { id, run, lines: await linesOf(file), steps: await stepsOf(id) };
}

const linesOf = async (file: string): Promise<string[]> =>
  (await readFile(file, 'utf8').catch(() => '')).split('\n').filter((line) => line !== '');

const stepsOf = async (id: string): Promise<RunStep[]> =>
  (await server.ask(`/api/v1/runs/${id}/steps`)).body.data;

test('a retry uses stored results, executes the failed step, and sees the same values', async () => {
  const { id, run, lines, steps } = await execute('retried');
  expect(run).toMatchObject({ status: 'COMPLETED', attemptCount: 3, output: [5, 1, [0, 10, 20], 'done'] });
  expect(lines).toEqual([`a ${id}/a`, 'loop 0', 'loop 1', 'loop 2', 'b', 'b', 'b']);
  expect(steps.map((step) => [step.name, step.status, step.attempt, step.output])).toEqual([
    ['a', 'COMPLETED', 1, { at: '1970-01-01T00:00:00.005Z', n: 1 }],
    ['loop', 'COMPLETED', 1, 0],
    ['loop#2', 'COMPLETED', 1, 10],
    ['loop#3', 'COMPLETED', 1, 20],
    ['b', 'COMPLETED', 3, 'done'],
  ]);
  const { entries } = await runs.timeline(id);
  const stepEntries = entries.filter(({ kind }) => kind === 'step');
  expect(stepEntries).toHaveLength(5);
  for (const entry of stepEntries) expect(entry).not.toHaveProperty('error');
  const env = { MILLRACE_API_URL: server.url, MILLRACE_SECRET_KEY: server.keys.prod, CI: 'true' };
  const { stdout } = await finished(['runs', 'show', id, '--timeline'], { cwd: folder, env });
  expect(stdout).toContain('step loop#2');
  expect(stdout).not.toMatch(/Error: *$/m);
});

test('a step has its own retry and timeout, and the same key in all tries', async () => {
  const { id, run, lines, steps } = await execute('tried');
  expect(run.output).toEqual([
    3,
    'StepError',
    'late',
    'StepTimeoutError',
    'Step "late" failed: It took longer than its timeout of 0.05 s.',
  ]);
  expect(lines).toEqual([1, 2, 3].map((n) => `${n} ${id}/flaky`).concat('aborted', 'aborted'));
  expect(steps.map((step) => [step.name, step.status, step.tries, step.error?.name])).toEqual([
    ['flaky', 'COMPLETED', 3, undefined],
    ['late', 'FAILED', 2, 'StepTimeoutError'],
  ]);
});

describe('the process is killed', () => {
  for (const [at, lines] of [
    ['before one', ['before one', 'one', 'two', 'three']],
    ['inside two', ['one', 'two', 'inside two', 'two', 'three']],
    ['before three', ['one', 'two', 'before three', 'three']],
  ] as const) {
    test(`${at}: stored steps are not repeated`, async () => {
      const done = await execute('crashing', { at });
      expect(done.run).toMatchObject({ status: 'COMPLETED', output: 'over' });
      expect(done.lines).toEqual(lines);
      expect(done.steps).toHaveLength(3);
    });
  }

  test('after a failed step was handled: the step stays failed in its attempt', async () => {
    const { run, lines } = await execute('handled');
    expect(run).toMatchObject({ status: 'FAILED', attemptCount: 1, error: { message: 'declined card' } });
    expect(lines).toEqual(['charge', 'refund', 'crash']);
  });
});

test('a sleep ends once: a retry does not wait again', async () => {
  const { run, lines, steps } = await execute('slept', { ms: 600 });
  expect(run).toMatchObject({ status: 'COMPLETED', output: 'awake', attemptCount: 2 });
  const [first, second] = lines.map((line) => Number(line.split(' ')[2]));
  expect(first).toBeGreaterThanOrEqual(590);
  expect(second).toBeLessThan(500);
  expect(steps.map((step) => [step.name, step.kind])).toEqual([
    ['nap', 'SLEEP'],
    ['until', 'SLEEP'],
  ]);
});

test('a run is triggered once, and again only after it has failed', async () => {
  const { id, run, lines } = await execute('parent');
  expect(run).toMatchObject({
    status: 'COMPLETED',
    output: [2, true, false, 'negative', 'RangeError'],
  });
  const [before, after] = lines.map((line) => line.split(' '));
  expect(after?.[0]).toBe(before?.[0]);
  expect(after?.[1]).not.toBe(before?.[1]);
  const { relatedRuns } = (await server.ask(`/api/v3/runs/${id}`)).body;
  expect(relatedRuns.children).toHaveLength(4);
});

test('an invalid step is rejected with instructions', async () => {
  const { run } = await execute('refused');
  expect(run.output).toEqual([
    expect.stringMatching(/^TypeError: step\.run requires the name of the step/),
    expect.stringMatching(/must not be empty/),
    expect.stringMatching(/at most 200 characters; .* has 201/),
    expect.stringMatching(/NUL/),
    expect.stringMatching(/"a#2" ends like an index/),
    expect.stringMatching(/requires a function after the name/),
    expect.stringMatching(/timeout must be seconds above 0/),
    expect.stringMatching(/timeout must be seconds above 0/),
    expect.stringMatching(/^StepMismatchError: Two steps named "same" must not be open at the same time/),
    expect.stringMatching(/does not work inside a step \(here "outer"\)/),
    expect.stringMatching(/wait\.for does not work inside a step \(here "waits"\)/),
    expect.stringMatching(/step\.sleep requires a duration/),
    expect.stringMatching(/step\.sleep requires a duration.* or a valid Date/),
    expect.stringMatching(/item 0 is not a function/),
    expect.stringMatching(/limit must be a whole number/),
    expect.stringMatching(/step\.trigger requires a task or its id/),
    'none',
  ]);
});

test('a result that cannot be serialized ends the run with an error that names its path: its work was done', async () => {
  const { run, lines, steps } = await execute('unserializable');
  expect(run).toMatchObject({ status: 'FAILED', attemptCount: 1 });
  expect(run.error?.message).toMatch(/Step "bad" failed: .*result of step "bad"\.items\[1\]\.act/);
  expect(lines).toEqual(['bad']);
  expect(steps).toMatchObject([{ name: 'bad', status: 'FAILED', error: { name: 'UnserializableError' } }]);
});

test('a large result is stored separately, and a too large result is an error', async () => {
  const { run, lines, steps } = await execute('large');
  expect(run).toMatchObject({ status: 'COMPLETED' });
  expect(run.output).toEqual([
    300_000,
    'é',
    'StepError',
    expect.stringMatching(/Step "too large" failed: .*larger than 10485760 bytes/),
  ]);
  expect(lines).toEqual(['large']);
  expect(steps[0]).not.toHaveProperty('output');
  const response = await fetch(steps[0]?.outputPresignedUrl ?? '');
  expect((await response.text()).length).toBe(300_000);
});

test('secrets are hidden in responses, and reach the code again', async () => {
  const { id, run, steps } = await execute('secret');
  expect(run.output).toEqual([28, true, expect.stringMatching(/name: contains a secret/)]);
  expect(steps[0]).toMatchObject({ name: 'login', output: { n: 1 } });
  const timeline = await server.ask(`/api/v1/runs/${id}/timeline`);
  expect(JSON.stringify([steps, timeline.body])).not.toContain('correct-horse');
});

test('a step that is not awaited is stored before the attempt ends, and a log line reports it', async () => {
  const { id, run, lines, steps } = await execute('forgotten');
  expect(run).toMatchObject({ status: 'COMPLETED', output: 'returned' });
  expect(lines).toEqual(['slow']);
  expect(steps).toMatchObject([{ name: 'slow', status: 'COMPLETED' }]);
  const { body } = await server.ask(`/api/v1/runs/${id}/logs`);
  expect(body.lines.map((line: { message: string }) => line.message)).toEqual([
    expect.stringMatching(/its step "slow" was open: await each step/),
  ]);
});

test('keeps the content of a response that a step throws, and the causes of the error of a child', async () => {
  const { run, steps } = await execute('odd-failures');
  expect(run.output).toEqual([
    'Step "fetch" failed: {"status":404,"statusText":"Not Found"}',
    ['RangeError: outer', 'TypeError: root', ['Error: one', 'two']],
    true,
  ]);
  expect(steps[1]).toMatchObject({ error: { message: 'outer' } });
  // The parent's error has the causes of the child's error.
  const { run: failed } = await execute('parent-of-odd', {});
  expect(failed.error?.causes?.map(({ name, message }) => `${name}: ${message}`)).toEqual([
    'RangeError: outer',
    'TypeError: root',
    'Error: one',
    'string: two',
  ]);
});

test('the error of a child that rules out further attempts ends its parent, unless the parent throws another error', async () => {
  for (const how of ['abort', 'skip']) {
    const plain = await execute('parent-of-final', { how });
    expect([how, plain.run.status, plain.run.attemptCount, plain.lines]).toEqual([
      how,
      'FAILED',
      1,
      ['charged'],
    ]);
    const again = await execute('parent-of-final', { how, wrap: true });
    expect([how, again.run.status, again.run.attemptCount]).toEqual([how, 'FAILED', 3]);
  }
  const failing = await execute('parent-of-final', { how: 'throw' });
  expect(failing.run).toMatchObject({ status: 'FAILED', attemptCount: 3 });
});

test('a call that is not awaited and fails after the task has returned fails the attempt', async () => {
  const step = await execute('forgotten-failure');
  expect(step.run).toMatchObject({
    status: 'FAILED',
    error: { message: 'Step "slow" failed: not awaited' },
  });
  const trigger = await execute('forgotten-trigger');
  expect(trigger.run).toMatchObject({
    status: 'FAILED',
    error: { message: expect.stringContaining('options.delay: "soon" cannot be read') as string },
  });
});

test('a canceled run stores its current step, and starts no other', async () => {
  const file = join(folder, `notes-${++files}`);
  const { id } = await tasks.trigger('canceled', { file });
  await expect.poll(() => linesOf(file), { timeout: 10_000 }).toEqual(['began']);
  await runs.cancel(id);
  const run = await runs.poll(id, { timeoutInMs: 10_000, pollIntervalMs: 50 });
  expect(run.status).toBe('CANCELED');
  expect(await linesOf(file)).toEqual(['began']);
  expect(await stepsOf(id)).toMatchObject([{ name: 'long', output: 'stopped' }]);
});

test('more than a page of parallel steps respect their limit and are each executed once', async () => {
  const { id, run, lines } = await execute('wide', { count: 230 });
  expect(run.output).toEqual([230, true, 0]);
  expect(lines).toHaveLength(230);
  const names = new Set<string>();
  let after = '';
  do {
    const { body } = await server.ask(`/api/v1/runs/${id}/steps?page[size]=90${after}`);
    for (const { name } of body.data) names.add(name);
    after = body.pagination.next ? `&page[after]=${encodeURIComponent(body.pagination.next)}` : '';
  } while (after !== '');
  expect(names.size).toBe(230);
});

test('the log reports a step name that disappeared, with the name in its place', async () => {
  const { id, run } = await execute('vanishing');
  expect(run.status).toBe('COMPLETED');
  const { body } = await server.ask(`/api/v1/runs/${id}/logs`);
  expect(body.lines.map((line: { message: string }) => line.message)).toEqual([
    expect.stringMatching(
      /stored the step "charge", which this one did not call\. It executed the step "charge card" instead/,
    ),
  ]);
});

describe('a replay from a step', () => {
  const names = async (id: string) => (await stepsOf(id)).map((step) => [step.name, step.takenFrom]);

  test('reuses the steps that ended before it, and executes it and the others', async () => {
    const first = await execute('retried');
    const { id } = await runs.replay(first.id, { fromStep: 'loop#2' });
    const run = await runs.poll(id, { timeoutInMs: 10_000, pollIntervalMs: 50 });
    expect(run).toMatchObject({ status: 'COMPLETED', output: first.run.output, replayOf: first.id });
    const [{ file }] = [first.run.payload as { file: string }];
    expect((await linesOf(file)).slice(first.lines.length)).toEqual(['loop 1', 'loop 2', 'b', 'b', 'b']);
    expect(await names(id)).toEqual([
      ['a', first.id],
      ['loop', first.id],
      ['loop#2', undefined],
      ['loop#3', undefined],
      ['b', undefined],
    ]);
    const { entries } = await runs.timeline(id);
    expect(entries.filter(({ kind }) => kind === 'step')).toHaveLength(5);
    // A replay of the replay has the origin of the results.
    const again = await runs.replay(id, { fromStep: 'b' });
    await runs.poll(again.id, { timeoutInMs: 10_000, pollIntervalMs: 50 });
    expect((await names(again.id))[0]).toEqual(['a', first.id]);
  });

  test('passes earlier secrets and large results to the code', async () => {
    const secret = await execute('secret');
    const { id } = await runs.replay(secret.id, { fromStep: 'for x' }).catch((error) => error);
    expect(id).toBeUndefined();
    const large = await execute('large');
    const replayed = await runs.replay(large.id, { fromStep: 'too large' });
    const run = await runs.poll(replayed.id, { timeoutInMs: 10_000, pollIntervalMs: 50 });
    expect(run.output).toEqual(large.run.output);
    const { lines } = large;
    expect(await linesOf((large.run.payload as { file: string }).file)).toEqual(lines);
  });

  test('names the stored steps if given an unknown one', async () => {
    const { id } = await execute('tried');
    const replay = (body: unknown) => server.ask(`/api/v1/runs/${id}/replay`, { method: 'POST', body });
    const unknown = await replay({ fromStep: 'nothing' });
    expect([unknown.status, unknown.body.error]).toEqual([
      422,
      'fromStep: the run has no stored step "nothing". Its steps: "flaky", "late".',
    ]);
    expect((await replay({ fromStep: '' })).status).toBe(400);
    expect((await replay({ fromStep: 'a\0' })).status).toBe(400);
    const without = await execute('child', { n: 1 });
    const none = await server.ask(`/api/v1/runs/${without.id}/replay`, {
      method: 'POST',
      body: { fromStep: 'x' },
    });
    expect([none.status, none.body.error]).toEqual([
      422,
      expect.stringContaining('has no stored steps. Replay it without'),
    ]);
  });
});

describe('a step that waits for an event', () => {
  const send = (id: string, order: number, more: object = {}) =>
    server.ask('/api/v1/events', {
      method: 'POST',
      body: { id, event: { name: 'order.paid', payload: { order }, ...more } },
    });
  const becomes = async (id: string, status: string): Promise<void> =>
    await expect
      .poll(async () => (await runs.retrieve(id)).status, { timeout: 10_000, interval: 20 })
      .toBe(status);

  test('continues with the first event that matches its filter, immediate or delayed, and a retry does not wait again', async () => {
    const waiting = await Promise.all(
      [1, 1, 2].map(async (order) => (await tasks.trigger('paid', { order, timeout: '1h' })).id),
    );
    for (const id of waiting) await becomes(id, 'WAITING');
    await send('other', 3);
    await Promise.all([send('first', 1), send('first', 1), send('later', 2, { deliverAfter: 0.3 })]);
    const outputs = await Promise.all(
      waiting.map(async (id) => (await runs.poll(id, { timeoutInMs: 10_000, pollIntervalMs: 50 })).output),
    );
    expect(outputs).toEqual([
      ['first', 'order.paid', 1],
      ['first', 'order.paid', 1],
      ['later', 'order.paid', 2],
    ]);
    expect((await stepsOf(waiting[0] ?? ''))[0]).toMatchObject({ kind: 'EVENT', detail: 'order.paid' });
  });

  test('ends when no event arrives in time, and rejects an invalid event name or filter', async () => {
    const { run } = await execute('paid', { order: 9, timeout: '1s' });
    expect(run.output).toEqual(['WaitTimeoutError']);
    const create = async (event: unknown) => {
      const { status, body } = await server.ask('/api/v1/waitpoints/tokens', {
        method: 'POST',
        body: { event },
      });
      return [status, body.error];
    };
    expect(await create({ name: 'order.*' })).toEqual([400, expect.stringContaining('without *')]);
    expect(await create({ name: 'order..paid' })).toEqual([400, expect.stringContaining('empty segment')]);
    expect(await create({ name: 'a', filter: { x: { $near: 1 } } })).toEqual([
      400,
      expect.stringContaining('is not an operator'),
    ]);
  });
});

test('an abandoned attempt stores nothing, and a repeated call stores nothing new', async () => {
  const { id } = await execute('tried');
  const store = (body: object) =>
    server.ask(`/api/v1/runs/${id}/steps`, {
      method: 'PUT',
      body: { fence: 1, name: 'x', kind: 'RUN', status: 'COMPLETED', seq: 9, tries: 1, tookMs: 1, ...body },
    });
  const stale = await store({});
  expect([stale.status, stale.body.error]).toEqual([409, 'This attempt has ended; its step is rejected.']);
  expect((await server.ask(`/api/v1/runs/${id}/steps/results?fence=1`)).status).toBe(409);
  expect(await stepsOf(id)).toHaveLength(2);
  for (const [body, field] of [
    [{ name: '' }, 'name'],
    [{ seq: 10_001 }, 'seq'],
    [{ kind: 'WALK' }, 'kind'],
    [{ fence: 0 }, 'fence'],
  ] as const) {
    const { status, body: reply } = await store(body);
    expect([status, reply.details?.[0].path]).toEqual([400, [field]]);
  }
  expect(await store({ status: 'FAILED' })).toMatchObject({ status: 422 });
  expect((await server.ask('/api/v1/runs/run_none/steps')).status).toBe(404);
});
