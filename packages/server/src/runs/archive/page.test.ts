import type { ArchivePage } from '@millrace/contract';
import { expect, test } from 'vitest';
import { testEngine, type TestEngine } from '../testing/engine.ts';
import { readArchivePage } from './page.ts';

const kinds = ['runs', 'attempts', 'steps', 'logs', 'spans'] as const;

async function start() {
  const t = await testEngine();
  const { id: version } = await t.register('mail');
  await t.addRunner('r');
  const completed = async (payload?: unknown, tags: string[] = []) => {
    const { id } = await t.trigger('mail', { tags }, payload);
    const [attempt] = await t.claim('r', [version], 1);
    await t.end(attempt!, { kind: 'completed', output: '{"ok":true}', outputType: 'application/json' });
    return id;
  };
  return { t, env: t.environment.id, completed };
}

async function pagesOf(t: TestEngine, filter?: object): Promise<ArchivePage[]> {
  const pages: ArchivePage[] = [];
  for (let after: string | undefined; ;) {
    const page = await readArchivePage(t.sql, t.environment.id, { filter, after }, t.engine.clock.now());
    pages.push(page);
    after = page.next;
    if (after === undefined) return pages;
  }
}

const addLines = ({ sql, environment }: TestEngine, run: string, count: number, message: string) => sql`
  insert into run_logs (env, run_id, attempt, at, level, message)
  select ${environment.id}, ${run}, 1, now(), 'info', ${message} || n from generate_series(1, ${count}::int) n`;

test('a page has ended runs with all their records, oldest first, and texts as they are stored', async () => {
  const { t, env, completed } = await start();
  const first = await completed({ name: 'Ada\u2028' }, ['a']);
  const at = new Date(t.engine.clock.now());
  await addLines(t, first, 2, 'line ');
  await t.sql`
    insert into run_spans (env, run_id, attempt, at, trace_id, count, dropped, size, spans)
    values (${env}, ${first}, 1, ${at}, 'b', 1, 0, 2, '[]')`;
  await t.sql`
    insert into run_steps (env, run_id, name, kind, status, seq, attempt, tries, started_at, ended_at, output, output_type)
    values (${env}, ${first}, 'charge', 'RUN', 'COMPLETED', 1, 1, 1, ${at}, ${at}, 'step-result', 'application/store')`;
  const second = await completed();
  await t.trigger('mail', { delay: '1h' });
  t.engine.clock.shift(10);
  const [page, ...others] = await pagesOf(t);
  expect(others).toEqual([]);
  expect(page?.runs.map(({ id }) => id)).toEqual([first, second]);
  expect(page?.runs[0]).toMatchObject({
    task: 'mail',
    status: 'COMPLETED',
    queue: 'task/mail',
    tags: ['a'],
    payload: '{"name":"Ada\u2028"}',
    payload_type: 'application/json',
    output: '{"ok":true}',
    erased_at: null,
    finished_at: expect.stringMatching(/Z$/) as string,
  });
  expect(page?.logs.map(({ run_id: run, message }) => [run, message])).toEqual([
    [first, 'line 1'],
    [first, 'line 2'],
  ]);
  expect(page?.steps).toMatchObject([{ run_id: first, name: 'charge' }]);
  expect(page?.spans).toMatchObject([{ run_id: first, spans: '[]' }]);
  expect(page?.packets).toEqual(['step-result']);
  expect((await pagesOf(t, { tag: ['a'] })).flatMap(({ runs }) => runs.map(({ id }) => id))).toEqual([first]);
  expect(await pagesOf(t, { version: ['20200101.1'] })).toEqual([
    { runs: [], attempts: [], steps: [], logs: [], spans: [], packets: [] },
  ]);
});

test('pages are bounded, divide a large run, and repeat or lose nothing', async () => {
  const { t, env, completed } = await start();
  const small = await completed(1);
  const large = await completed(2);
  const wide = await completed(3);
  await addLines(t, small, 3, 'a');
  await addLines(t, large, 4_500, 'b');
  await addLines(t, wide, 5, 'x'.repeat(1_000_000));
  await t.sql`
    insert into runs (env, id, task, queue_id, sort_key, created_at, status, finished_at)
    select env, left(id, 12) || lpad(to_hex(n), 15, '0'), task, queue_id, sort_key, created_at, status, finished_at
      from runs, generate_series(1, 450) n where id = ${wide}`;
  t.engine.clock.shift(10);
  const pages = await pagesOf(t);
  expect(pages.length).toBeGreaterThan(5);
  for (const page of pages) for (const kind of kinds) expect(page[kind].length).toBeLessThanOrEqual(2_000);
  const runs = pages.flatMap((page) => page.runs.map(({ id }) => id));
  const stored = await t.sql<{ id: string }[]>`select id from runs where env = ${env} order by id`;
  expect(runs).toEqual(stored.map(({ id }) => id));
  const lines = pages.flatMap((page) =>
    page.logs.map(({ run_id: run, message }) => `${run} ${message.slice(-8)}`),
  );
  expect(new Set(lines).size).toBe(4_508);
  expect(lines).toHaveLength(4_508);
});

test('rejects a position that no page returned', async () => {
  const { t } = await start();
  for (const after of ['x', 'run_1/2', `run_${'a'.repeat(70)}`, "run_1/1,1,1,'"]) {
    await expect(
      readArchivePage(t.sql, t.environment.id, { filter: undefined, after }, t.engine.clock.now()),
    ).rejects.toMatchObject({ status: 400, message: expect.stringContaining('after: ') as string });
  }
});
