import { expect, onTestFinished, test } from 'vitest';
import { configure, logs, runs } from '@millrace/sdk';
import { startProject } from '../support/project.ts';
import { sharedServer } from '../support/shared-server.ts';

const tasks = `
import { logger, task } from '@millrace/sdk';
import { setTimeout as sleep } from 'node:timers/promises';
export const talks = task({ id: 'talks', run: async ({ count, pauseMs = 20 }: { count: number; pauseMs?: number }) => {
  for (let n = 0; n < count; n += 1) {
    logger.info('line ' + n, { sent: Date.now() });
    if (pauseMs > 0) await sleep(pauseMs);
  }
  logger.error('bye \\u001b[31m\\u0000', { n: count });
} });
export const quiet = task({ id: 'quiet', run: async () => { logger.info('quiet'); } });
`;

async function serving() {
  const server = await sharedServer();
  await startProject(server, { 'tasks/all.ts': tasks });
  configure({ baseURL: server.url, secretKey: server.keys.prod });
  const trigger = async (task: string, payload: unknown = {}): Promise<string> => {
    const { body } = await server.ask(`/api/v1/tasks/${task}/trigger`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: { payload },
    });
    return body.id as string;
  };
  return { server, trigger };
}

test('lines reach a follower within a fraction of a second, in order, and the stream ends with the run', async () => {
  const { trigger, server } = await serving();
  const id = await trigger('talks', { count: 100 });
  const seen: string[] = [];
  const took: number[] = [];
  for await (const line of runs.followLogs(id)) {
    seen.push(line.message);
    const { sent } = line.properties ?? {};
    if (typeof sent === 'number') took.push(Date.now() - sent);
  }
  expect(seen).toEqual([...Array.from({ length: 100 }, (_, n) => `line ${n}`), 'bye \u001b[31m\uFFFD']);
  const late = took.toSorted((a, b) => a - b)[94] ?? Number.POSITIVE_INFINITY;
  expect(late).toBeLessThan(1_000);
  // A run that has ended is returned completely, or filtered.
  const errors: string[] = [];
  for await (const line of runs.followLogs(id, { level: 'error' })) errors.push(line.message);
  expect(errors).toHaveLength(1);
  // A run of another environment is not found.
  const other = await server.ask(`/realtime/v1/runs/${id}/logs/events`, { key: server.keys.stg });
  expect(other.status).toBe(404);
});

test('lines of all runs are followed by task, and can be queried afterwards', async () => {
  const { trigger } = await serving();
  const ended = new AbortController();
  onTestFinished(() => ended.abort());
  const seen: [string, string][] = [];
  const following = (async () => {
    for await (const line of logs.follow({ task: 'talks', signal: ended.signal })) {
      seen.push([line.taskIdentifier, line.message]);
    }
  })();
  await new Promise((resolve) => setTimeout(resolve, 500));
  await trigger('quiet');
  const id = await trigger('talks', { count: 3, pauseMs: 0 });
  await expect.poll(() => seen.length, { timeout: 20_000 }).toBe(4);
  expect(seen[0]).toEqual(['talks', 'line 0']);
  ended.abort();
  await following;
  const { data } = await logs.search({ property: 'n=3', period: '1h' });
  expect(data).toMatchObject([{ runId: id, taskIdentifier: 'talks', level: 'error' }]);
  expect((await logs.search({ text: 'QUIET' })).data).toMatchObject([{ message: 'quiet' }]);
  expect((await logs.search({ task: 'none' })).data).toEqual([]);
});

test('an invalid filter is rejected, and its field is named', async () => {
  const { server } = await serving();
  for (const [query, field] of [
    ['filter[level]=loud', 'filter[level]'],
    ['filter[property]=none', 'filter[property]'],
    ['filter[createdAt][period]=soon', 'filter[createdAt][period]'],
    ['page[size]=0', 'page[size]'],
    ['page[after]=-1', 'page[after]'],
    [`filter[text]=${'x'.repeat(300)}`, 'filter[text]'],
  ] as const) {
    const answer = await server.ask(`/api/v1/logs?${query}`);
    expect([answer.status, JSON.stringify(answer.body)]).toEqual([400, expect.stringContaining(field)]);
  }
});
