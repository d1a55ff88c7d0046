/** A project whose tasks have steps. They record their actions in the file that their payload names. */
export const stepTasks = {
  'tasks/steps.ts': `import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { AbortTaskRunError, logger, step, StepError, task, wait } from '@millrace/sdk';
const pause = (ms) => new Promise((done) => setTimeout(done, ms));
const note = (file, line) => appendFileSync(file, line + '\\n');
const quick = { maxAttempts: 3, minTimeoutInMs: 1, maxTimeoutInMs: 1 };

export const retried = task({ id: 'retried', retry: quick, run: async ({ file }, { ctx }) => {
  const a = await step.run('a', ({ idempotencyKey }) => { note(file, 'a ' + idempotencyKey); return { at: new Date(5), n: 1 }; });
  const numbers = [];
  for (let n = 0; n < 3; n++) numbers.push(await step.run('loop', () => { note(file, 'loop ' + n); return n * 10; }));
  const b = await step.run('b', () => { note(file, 'b'); if (ctx.attempt.number < 3) throw new TypeError('not yet'); return 'done'; });
  return [a.at.getTime(), a.n, numbers, b];
} });

export const tried = task({ id: 'tried', retry: { maxAttempts: 1 }, run: async ({ file }) => {
  const got = await step.run('flaky', ({ try: n, idempotencyKey }) => { note(file, n + ' ' + idempotencyKey); if (n < 3) throw new Error('again'); return n; },
    { retry: { maxAttempts: 5, minTimeoutInMs: 1 } });
  const late = await step.run('late', ({ signal }) => new Promise((done, fail) => signal.addEventListener('abort', () => note(file, 'aborted'))),
    { timeout: 0.05, retry: { maxAttempts: 2, minTimeoutInMs: 1 } }).catch((error) => error);
  return [got, late.name, late.step, late.cause.name, late.message];
} });

export const crashing = task({ id: 'crashing', retry: quick, run: async ({ file, at }) => {
  for (const name of ['one', 'two', 'three']) {
    if (at === 'before ' + name && !seen(file, at)) { note(file, at); await pause(30); process.kill(process.pid, 'SIGKILL'); }
    await step.run(name, async () => {
      note(file, name);
      if (at === 'inside ' + name && !seen(file, at)) { note(file, at); await pause(30); process.kill(process.pid, 'SIGKILL'); }
      return name;
    });
  }
  return 'over';
} });
const seen = (file, line) => existsSync(file) && readFileSync(file, 'utf8').split('\\n').includes(line);

export const slept = task({ id: 'slept', retry: quick, run: async ({ file, ms }, { ctx }) => {
  const from = Date.now();
  await step.sleep('nap', { seconds: ms / 1000 });
  note(file, 'slept ' + ctx.attempt.number + ' ' + (Date.now() - from));
  await step.sleep('until', new Date(0));
  if (ctx.attempt.number === 1) throw new Error('again');
  return 'awake';
} });

export const child = task({ id: 'child', retry: { maxAttempts: 1 }, run: async ({ n }) => { if (n < 0) throw new RangeError('negative'); return { n, at: new Date(n) }; } });
export const parent = task({ id: 'parent', retry: quick, run: async ({ file }, { ctx }) => {
  const plain = await step.trigger('start', child, { n: 1 });
  const waited = await step.triggerAndWait('ask', child, { n: 2 }).unwrap();
  const failed = await step.triggerAndWait('refused', 'child', { n: -1 });
  note(file, [plain.id, failed.id].join(' '));
  if (ctx.attempt.number === 1) throw new Error('again');
  return [waited.n, waited.at instanceof Date, failed.ok, failed.error?.cause.message, failed.error?.cause.name];
} });

export const odd = task({ id: 'odd', retry: { maxAttempts: 1 }, run: async () => {
  throw Object.assign(new AggregateError([new Error('one'), 'two'], 'outer', { cause: new TypeError('root') }), { name: 'RangeError' });
} });
export const oddFailures = task({ id: 'odd-failures', retry: { maxAttempts: 1 }, run: async () => {
  const fetched = await step.run('fetch', () => { throw new Response('', { status: 404, statusText: 'Not Found', headers: { 'set-cookie': 'a' } }); }).catch((error) => error);
  const waited = await step.triggerAndWait('odd', odd, {});
  const cause = waited.error.cause;
  return [fetched.message, [cause.name + ': ' + cause.message, cause.cause.name + ': ' + cause.cause.message,
    cause.errors.map((one) => typeof one === 'string' ? one : one.name + ': ' + one.message)], cause instanceof AggregateError];
} });
export const parentOfOdd = task({ id: 'parent-of-odd', retry: { maxAttempts: 1 }, run: async () => odd.triggerAndWait({}).unwrap() });

export const finalChild = task({ id: 'final-child', retry: { maxAttempts: 1 }, catchError: ({ payload }) => payload.how === 'skip' ? { skipRetrying: true } : undefined,
  run: async ({ how }) => { throw how === 'abort' ? new AbortTaskRunError('no customer') : new Error('no customer'); } });
export const parentOfFinal = task({ id: 'parent-of-final', retry: quick, run: async ({ file, how, wrap }) => {
  note(file, 'charged');
  const result = await finalChild.triggerAndWait({ how });
  if (!result.ok) throw wrap ? new Error('again', { cause: result.error }) : result.error;
} });

export const refused = task({ id: 'refused', retry: { maxAttempts: 1 }, run: async () => {
  const said = async (act) => { try { await act(); return 'none'; } catch (error) { return error.name + ': ' + error.message; } };
  const f = () => 1;
  return [
    await said(() => step.run(undefined, f)), await said(() => step.run('  ', f)), await said(() => step.run('x'.repeat(201), f)),
    await said(() => step.run('a\\0', f)), await said(() => step.run('a#2', f)), await said(() => step.run('no function')),
    await said(() => step.run('t', f, { timeout: -1 })), await said(() => step.run('t', f, { timeout: 'soon' })),
    await said(() => Promise.all([step.run('same', f), step.run('same', f)])),
    await said(() => step.run('outer', () => step.run('inner', f))),
    await said(() => step.run('waits', () => wait.for({ seconds: 1 }))),
    await said(() => step.sleep('s', {})), await said(() => step.sleep('d', new Date(NaN))),
    await said(() => step.parallel([step.run('early', f)])), await said(() => step.parallel([f], { limit: 0 })),
    await said(() => step.trigger('none', {}, {})), await said(async () => { await step.run('kind', f); }),
  ];
} });

export const unserializable = task({ id: 'unserializable', retry: quick, run: async ({ file }) => {
  await step.run('bad', () => { note(file, 'bad'); return { items: [1, { act: () => 1 }] }; });
} });

export const large = task({ id: 'large', retry: quick, run: async ({ file }, { ctx }) => {
  const text = await step.run('large', () => { note(file, 'large'); return 'é'.repeat(300_000); });
  if (ctx.attempt.number === 1) throw new Error('again');
  const most = await step.run('too large', () => 'x'.repeat(11 * 1024 * 1024)).catch((error) => error);
  return [text.length, text.at(-1), most.name, most.message];
} });

export const secret = task({ id: 'secret', retry: quick, run: async ({}, { ctx }) => {
  const got = await step.run('login', () => ({ token: process.env.SECRET_WORD, n: 1 }));
  if (ctx.attempt.number === 1) throw new Error('again');
  const named = await step.run('for ' + process.env.SECRET_WORD, () => 1).catch((error) => error);
  return [got.token.length, got.token === process.env.SECRET_WORD, named.message];
} });

export const forgotten = task({ id: 'forgotten', retry: { maxAttempts: 1 }, run: async ({ file }) => {
  void step.run('slow', async () => { await pause(100); note(file, 'slow'); return 1; });
  await pause(20);
  return 'returned';
} });

export const forgottenFailure = task({ id: 'forgotten-failure', retry: { maxAttempts: 1 }, run: async () => {
  void step.run('slow', async () => { await pause(50); throw new Error('not awaited'); });
  return 'returned';
} });

export const forgottenTrigger = task({ id: 'forgotten-trigger', retry: { maxAttempts: 1 }, run: async ({ file }) => {
  void retried.trigger({ file }, { delay: 'soon' });
  return 'returned';
} });

export const handled = task({ id: 'handled', retry: { maxAttempts: 2, minTimeoutInMs: 1 }, run: async ({ file }, { ctx }) => {
  try {
    await step.run('charge', () => { note(file, 'charge'); throw Object.assign(new Error('declined'), { code: 'card' }); });
  } catch (error) {
    await step.run('refund', () => { note(file, 'refund'); });
    if (!seen(file, 'crash')) { note(file, 'crash'); await pause(30); process.kill(process.pid, 'SIGKILL'); }
    throw new AbortTaskRunError(error instanceof StepError ? error.cause.message + ' ' + error.cause.code : 'lost');
  }
} });

export const canceled = task({ id: 'canceled', run: async ({ file }) => {
  await step.run('long', async ({ signal }) => {
    note(file, 'began');
    await new Promise((done) => signal.addEventListener('abort', done));
    return 'stopped';
  });
  await step.run('next', () => note(file, 'next'));
} });

export const wide = task({ id: 'wide', retry: quick, run: async ({ file, count }, { ctx }) => {
  let now = 0, most = 0;
  const all = await step.parallel(Array.from({ length: count }, (_, n) => () => step.run('item ' + n, async () => {
    most = Math.max(most, ++now); await pause(5); now--; note(file, 'item ' + n); return n;
  })), { limit: 7 });
  if (ctx.attempt.number === 1) throw new Error('again');
  return [all.length, all.every((n, index) => n === index), most];
} });

export const vanishing = task({ id: 'vanishing', retry: quick, run: async ({}, { ctx }) => {
  await step.run(ctx.attempt.number === 1 ? 'charge' : 'charge card', () => 1);
  if (ctx.attempt.number === 1) throw new Error('again');
} });

export const paid = task({ id: 'paid', retry: quick, run: async ({ order, timeout }, { ctx }) => {
  const got = await step.waitForEvent('payment', { event: 'order.paid', filter: { order }, timeout });
  if (ctx.attempt.number === 1) throw new Error('again');
  return got.ok ? [got.output.id, got.output.name, got.output.payload.order] : [got.error.name];
} });
`,
};
