/** The hooks of `@millrace/react` in a real browser, on a page of another origin, with real tasks. */
import { createHmac } from 'node:crypto';
import { MillraceClient } from '@millrace/sdk';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { breakable } from '../support/breakable.ts';
import { testDatabase } from '../support/database.ts';
import { startProject } from '../support/project.ts';
import { testServer, type TestServer } from '../support/server.ts';
import { sharedServer, type SharedServer } from '../support/shared-server.ts';
import { openPage } from './browser.ts';

const project = {
  'tasks/work.ts': `import { metadata, streams, task, wait } from '@millrace/sdk';

export const work = task({
  id: 'work',
  run: async ({ n }: { n: number }) => {
    metadata.set('step', 1);
    await streams.pipe('words', ['one', 'two', 'three']);
    return { double: 2 * n };
  },
});

export const approved = task({
  id: 'approved',
  run: async ({ token }: { token: string }) => {
    metadata.set('step', 1);
    return wait.forToken<{ approved: boolean }>(token).unwrap();
  },
});
`,
};

const ends: (() => Promise<void>)[] = [];
let server: SharedServer;
let millrace: MillraceClient;
beforeAll(async () => {
  server = await sharedServer();
  await startProject(server, project, [], (end) => void ends.push(end));
  millrace = new MillraceClient({ baseURL: server.url, accessToken: server.keys.prod });
}, 60_000);
afterAll(async () => {
  for (const end of ends) await end();
});

const authWith = async (...scopes: string[]) => ({
  baseURL: server.url,
  accessToken: await millrace.auth.createPublicToken({ scopes }),
});

const words = ['one', 'two', 'three'];
const done = (n: number) => ({ status: 'COMPLETED', output: { double: 2 * n }, step: 1 });

test.each([18, 19] as const)('the hooks work with React %s', { timeout: 120_000 }, async (react) => {
  const tab = await openPage(react);
  const tag = `tag-${react}`;
  const { id: first } = await millrace.tasks.trigger('work', { n: 1 }, { tags: [tag] });
  const ofFirst = await authWith(`read:runs:${first}`);
  await tab.show('useRealtimeRun', { id: first }, ofFirst);
  await tab.shows({ run: { id: first, ...done(1), tags: [tag] } });
  await expect.poll(() => tab.read('completed')).toEqual(['COMPLETED']);
  await tab.show('useRun', { id: first }, ofFirst);
  await tab.shows({ run: done(1), isLoading: false });
  await tab.show('useRealtimeRunWithStreams', { id: first }, ofFirst);
  await tab.shows({ run: done(1), streams: { words } });
  await tab.show('useRealtimeStream', { id: first }, ofFirst);
  await tab.shows({ parts: words, lastEventId: '2' });
  await tab.show('useRealtimeStream', { id: first, startIndex: 1, maxParts: 1 }, ofFirst);
  await tab.shows({ parts: ['three'] });

  await tab.show('useRealtimeRunsWithTag', { tag }, await authWith(`read:tags:${tag}`));
  await tab.shows({ runs: [done(1)] });
  await millrace.tasks.trigger('work', { n: 2 }, { tags: [tag] });
  await tab.shows({ runs: [done(1), done(2)] });

  const { batchId } = await millrace.tasks.batchTrigger('work', [
    { payload: { n: 3 } },
    { payload: { n: 4 } },
  ]);
  await tab.show('useRealtimeBatch', { id: batchId }, await authWith(`read:batch:${batchId}`));
  await tab.shows({ runs: [{ status: 'COMPLETED' }, { status: 'COMPLETED' }] });

  const triggering = await authWith('trigger:tasks:work');
  await tab.show('useTaskTrigger', { task: 'work' }, triggering);
  await tab.act();
  await tab.shows({ handle: { id: expect.stringMatching(/^run_/) as string } });
  await tab.show('useRealtimeTaskTrigger', { task: 'work' }, triggering);
  await tab.act();
  await tab.shows({ run: done(5) });
  await tab.show('useRealtimeTaskTriggerWithStreams', { task: 'work' }, triggering);
  await tab.act();
  await tab.shows({ run: done(6), streams: { words } });

  const token = await millrace.wait.createToken();
  const waiting = await millrace.tasks.trigger('approved', { token: token.id });
  await tab.show('useWaitToken', { id: token.id }, await authWith(`write:waitpoints:${token.id}`));
  await tab.shows({ isReady: true, isCompleted: false });
  await tab.act();
  await tab.shows({ isCompleted: true });
  expect(await millrace.runs.poll(waiting, { pollIntervalMs: 100 })).toMatchObject({
    output: { approved: true },
  });
});

test('a hook subscribes once below StrictMode, again for another run or token, and not after it is unmounted or stopped', async () => {
  const tab = await openPage(19);
  const token = await millrace.wait.createToken();
  const [first, second] = await Promise.all([
    millrace.tasks.trigger('approved', { token: token.id }),
    millrace.tasks.trigger('approved', { token: token.id }),
  ]);
  const auth = await authWith(`read:runs:${first.id}`, `read:runs:${second.id}`);
  await tab.show('useRealtimeRun', { id: first.id }, auth, 'same');
  await tab.shows({ run: { id: first.id, status: 'WAITING' } });
  expect(tab.subscriptions()).toEqual({ all: 1, open: 1 });

  await tab.show('useRealtimeRun', { id: first.id }, { ...auth }, 'same');
  await tab.show('useRealtimeRun', { id: second.id }, auth, 'same');
  await tab.shows({ run: { id: second.id, status: 'WAITING' } });
  await expect.poll(() => tab.subscriptions().open).toBe(1);

  const other = await authWith(`read:runs:${second.id}`, `read:runs:${first.id}`, 'read:tags:x');
  tab.subscriptions();
  await tab.show('useRealtimeRun', { id: second.id }, other, 'same');
  await expect.poll(() => tab.subscriptions().all).toBe(1);
  await expect.poll(() => tab.subscriptions().open).toBe(1);
  await tab.act();
  await expect.poll(() => tab.subscriptions().open).toBe(0);
  await tab.shows({ run: { id: second.id } });

  await tab.show('useRealtimeRun', { id: first.id }, other);
  await tab.shows({ run: { id: first.id } });
  await tab.show(undefined, {}, other);
  await expect.poll(() => tab.subscriptions().open).toBe(0);

  await tab.show('useRealtimeRun', { id: first.id, enabled: false }, other);
  await millrace.wait.completeToken(token);
  await millrace.runs.poll(first, { pollIntervalMs: 100 });
  expect(tab.subscriptions()).toEqual({ all: 0, open: 0 });
});

test('hooks return errors that state the remedy, and continue with a refreshed token', async () => {
  const tab = await openPage(19);
  const { id } = await millrace.tasks.trigger('work', { n: 1 });
  const auth = await authWith(`read:runs:${id}`);
  await tab.show('useRealtimeRun', { id }, { baseURL: server.url });
  await tab.shows({
    error: expect.stringMatching(/^Missing accessToken: pass .* to MillraceAuthContext/) as string,
  });
  await tab.show('useRealtimeRun', { id }, { accessToken: auth.accessToken });
  await tab.shows({ error: expect.stringMatching(/^Missing baseURL: /) as string });
  await tab.show('useRealtimeRun', { id: 'run_none' }, await authWith('read:runs'));
  await tab.shows({ error: expect.stringMatching(/^404 Not found/) as string });

  const expired = { baseURL: server.url, accessToken: await expiredToken(id) };
  const remedy = /has expired.*Create a new one on your server with auth\.createPublicToken/;
  await tab.show('useRealtimeRun', { id }, expired);
  await tab.shows({ error: expect.stringMatching(remedy) as string });
  await tab.show('useRealtimeRun', { id, refreshedToken: auth.accessToken }, expired);
  await tab.shows({ run: done(1) });
  expect(await tab.read('refreshed')).toBe(1);
  await tab.show('useRealtimeRun', { id, refreshedToken: expired.accessToken }, expired);
  await tab.shows({ error: expect.stringMatching(/refreshAccessToken returned it just now/) as string });
  expect(await tab.read('refreshed')).toBe(1);
});

/** A token as the server signs it, an hour after its end. */
async function expiredToken(run: string): Promise<string> {
  const text = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const { body: claims } = await server.ask('/api/v1/auth/jwt/claims', { method: 'POST' });
  const iat = Math.floor(Date.now() / 1_000) - 7_200;
  const issued = { iss: 'https://id.trigger.dev', aud: 'https://api.trigger.dev', iat, exp: iat + 3_600 };
  const signed = `${text({ alg: 'HS256' })}.${text({ ...(claims as object), scopes: [`read:runs:${run}`], ...issued })}`;
  return `${signed}.${createHmac('sha256', server.keys.prod).update(signed).digest('base64url')}`;
}

test('a hook continues after a restart of the server', { timeout: 120_000 }, async () => {
  const { connection, drop } = await testDatabase();
  onTestFinished(drop);
  const startOne = (): Promise<TestServer> => testServer({ database: connection, reveal: true });
  const before = await startOne();
  const way = await breakable(before.port);
  const keys = before.keys;
  await startProject({ url: way.url, keys }, project);
  const client = new MillraceClient({ baseURL: way.url, accessToken: keys.prod });
  const token = await client.wait.createToken();
  const { id } = await client.tasks.trigger('approved', { token: token.id });
  const accessToken = await client.auth.createPublicToken({ scopes: [`read:runs:${id}`] });

  const tab = await openPage(19);
  const auth = { baseURL: way.url, accessToken };
  await tab.show('useRealtimeRun', { id }, auth, 'same');
  await tab.shows({ run: { status: 'WAITING', step: 1 } });
  await before.close();
  const after = await startOne();
  way.lead(after.port);
  way.breakAll();
  await client.wait.completeToken(token, { approved: true });
  await tab.shows({ run: { status: 'COMPLETED', output: { approved: true } } });
  expect(await tab.read('completed')).toEqual(['COMPLETED']);
});
