/** Tasks that wait for each other, for times and for tokens. Each records the process in which its code began, and how often. */
export const waitingTasks = `
import { batch, task, tasks, wait } from '@millrace/sdk';
import { access, appendFile } from 'node:fs/promises';
const there = (file: string) => access(file).then(() => true, () => false);
export const child = task({
  id: 'child',
  retry: { maxAttempts: 1 },
  run: async (payload: { n: number; until?: string }) => {
    while (payload.until && !(await there(payload.until))) await new Promise((done) => setTimeout(done, 20));
    if (payload.n < 0) throw new RangeError('negative');
    return { doubled: payload.n * 2, at: new Date(0) };
  },
});
export const parent = task({
  id: 'parent',
  run: async (payload: { n: number; until?: string }, { ctx }) => {
    console.log('began', process.pid, ctx.attempt.number);
    if (payload.until) await appendFile(payload.until + '.began', payload.n + '\\n');
    const { doubled, at } = await child.triggerAndWait(payload).unwrap();
    return [doubled, at instanceof Date];
  },
});
export const single = task({
  id: 'single',
  queue: { name: 'single', concurrencyLimit: 1 },
  run: async ({ depth }: { depth: number }): Promise<number> =>
    depth === 0 ? 0 : 1 + (await single.triggerAndWait({ depth: depth - 1 }).unwrap()),
});
export const several = task({
  id: 'several',
  run: async (payload: { count: number }) => {
    const results = await Promise.all([
      wait.for({ seconds: 0.2 }).then(() => 'time'),
      ...Array.from({ length: payload.count }, (_, n) => child.triggerAndWait({ n }).unwrap().then((one) => one.doubled)),
    ]);
    const first = await Promise.race([wait.for({ seconds: 0.1 }).then(() => 'short'), wait.for({ hours: 1 }).then(() => 'long')]);
    return [...results, first];
  },
});
export const batches = task({
  id: 'batches',
  run: async ({ count, until }: { count: number; until?: string }, { ctx }) => {
    console.log('began', ctx.attempt.number);
    const items = Array.from({ length: count }, (_, n) => ({ payload: { n: n - 1, until }, options: { tags: ['member'] } }));
    const { runs } = await child.batchTriggerAndWait(items);
    const mixed = await batch.triggerByTaskAndWait([
      { task: child, payload: { n: 21 } },
      { task: single, payload: { depth: 0 } },
    ]);
    const byId = await tasks.batchTriggerAndWait<typeof child>('child', [{ payload: { n: 7 } }]);
    const [first, second] = mixed.runs;
    return [
      runs.map((run) => (run.ok ? run.output.doubled : run.error.name)),
      first.ok && first.output.doubled,
      second.ok && second.output,
      ...byId.runs.map((run) => run.ok && run.output.doubled),
    ];
  },
});
export const failing = task({
  id: 'failing',
  run: async () => {
    const result = await child.triggerAndWait({ n: -1 });
    const thrown = await child.triggerAndWait({ n: -1 }, { idempotencyKey: 'thrown' }).unwrap().catch((error) => error);
    return { ok: result.ok, message: result.ok ? '' : result.error.message, thrown: thrown.name, cause: thrown.cause.name };
  },
});
export const approval = task({
  id: 'approval',
  run: async (payload: { timeout?: string }) => {
    console.log('began');
    const token = await wait.createToken({ tags: ['mine'], timeout: payload.timeout ?? '1h' });
    console.log(JSON.stringify(token));
    const result = await wait.forToken<{ by: string }>(token);
    return result.ok ? result.output : result.error.name;
  },
});
export const limited = task({
  id: 'limited',
  maxDuration: 5,
  run: async () => {
    await wait.for({ seconds: 7 });
    return 'in time';
  },
});
export const endless = task({
  id: 'endless',
  run: async (_payload: void, { signal }) => {
    try {
      await child.triggerAndWait({ n: 1, until: '/nowhere/at/all' });
    } finally {
      console.log('stopped', signal.aborted);
    }
  },
});
`;
