/** The hooks of `@trigger.dev/react-hooks` in a real browser, on a page of another origin. */
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { newContext } from '../support/chromium.ts';
import { publishedProject } from './project.ts';
import { serve, type Served } from './serve.ts';
import { tried, versions, type Minor } from './versions.ts';

const tasks = `
import { metadata, streams, task, wait } from '@trigger.dev/sdk';
import { setTimeout } from 'node:timers/promises';

async function* words() { for (const word of ['one', 'two', 'three']) yield word; }
export const work = task({
  id: 'work',
  run: async ({ n }: { n: number }) => {
    metadata.set('step', 1);
    const { waitUntilComplete } = streams.pipe('words', words());
    await waitUntilComplete();
    const old = await metadata.stream('old', words());
    for await (const _ of old) {}
    await setTimeout(300);
    return { double: 2 * n };
  },
});
export const approved = task({
  id: 'approved',
  run: async ({ token }: { token: string }) => wait.forToken<{ approved: boolean }>({ id: token } as never).unwrap(),
});
const answers = streams.input<{ approved: boolean }>({ id: 'answers' });
export const answered = task({
  id: 'answered',
  run: async () => {
    const { ok, output } = await answers.once({ timeoutMs: 20_000 });
    return ok ? output : undefined;
  },
});
`;

const ends: (() => Promise<void>)[] = [];
let served: Served;
beforeAll(async () => {
  const onEnd = (end: () => Promise<void>): void => void ends.push(end);
  const { dir } = await publishedProject('4.8', { 'trigger/work.ts': tasks }, onEnd);
  served = await serve(dir, 'dev', onEnd);
  expect(served.problems).toEqual([]);
}, 60_000);
afterAll(async () => {
  for (const end of ends.toReversed()) await end();
});

const require = createRequire(import.meta.url);
const page = fileURLToPath(new URL('./hooks-page.jsx', import.meta.url));

/** The hooks of a minor version, with the core package of that version. */
const hooksOf = (minor: Minor): Plugin => ({
  name: 'hooks',
  setup(building) {
    const hooks = minor === '4.8' ? '@trigger.dev/react-hooks' : `published-hooks-${minor}`;
    const sdk = versions.find(([name]) => name === minor)?.[1] ?? '';
    const sdkFolder = dirname(require.resolve(`${sdk}/package.json`));
    building.onResolve({ filter: /^@trigger\.dev\// }, ({ path, kind, pluginData }) => {
      if (pluginData === 'resolved') return undefined;
      const [name, resolveDir] =
        path === '@trigger.dev/react-hooks' ? [hooks, dirname(page)] : [path, sdkFolder];
      return building.resolve(name, { resolveDir, kind, pluginData: 'resolved' });
    });
  },
});

async function bundled(minor: Minor): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [page],
    bundle: true,
    write: false,
    format: 'iife',
    platform: 'browser',
    jsx: 'automatic',
    define: { 'process.env.NODE_ENV': '"production"' },
    plugins: [hooksOf(minor)],
    // Imported only where it is used, which is not in browsers.
    external: ['node:http2'],
    logLevel: 'error',
  });
  return outputFiles[0]?.text ?? '';
}

/** The page, from a separate server. An error in the page fails the test. */
async function opened(minor: Minor): Promise<Page> {
  const script = await bundled(minor);
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8');
    response.end(
      `<!doctype html><title>x</title><body><script>${script.replaceAll('</script', '<\\/script')}</script>`,
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const context = await newContext();
  const opening = await context.newPage();
  const problems: string[] = [];
  opening.on('pageerror', (error) => problems.push(error.stack ?? error.message));
  opening.on('console', (message) => {
    // 4.0 logs this when a component with streams unmounts.
    if (message.type() === 'error' && !message.text().includes('AbortError')) problems.push(message.text());
  });
  onTestFinished(() => expect(problems).toEqual([]));
  await opening.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  return opening;
}

async function publicToken(...scopes: string[]): Promise<string> {
  const { key, server } = served;
  const created = await server.ask('/api/v1/auth/public-tokens', { method: 'POST', key, body: { scopes } });
  expect(created).toMatchObject({ status: 200 });
  return created.body.token as string;
}

test.each(tried.map(([minor]) => minor))(
  'the hooks of %s work on a page of another origin',
  { timeout: 120_000 },
  async (minor) => {
    const tab = await opened(minor);
    const { server } = served;
    const show = (name: string, props: object, accessToken: string) =>
      tab.evaluate(
        `show(${JSON.stringify(name)}, ${JSON.stringify(props)}, ${JSON.stringify({ accessToken, baseURL: server.url })})`,
      );
    const act = () => tab.evaluate('act()');
    const displayed = async () => JSON.parse((await tab.locator('pre').textContent()) ?? '{}') as object;
    const shows = async (expected: object): Promise<void> => {
      await expect.poll(displayed, { timeout: 20_000 }).toMatchObject(expected);
    };
    const exported = (await tab.evaluate('exported')) as string[];
    const words = ['one', 'two', 'three'];
    const done = (n: number) => ({ status: 'COMPLETED', output: { double: 2 * n }, step: 1 });

    const tag = `tag-${minor}`;
    const first = await served.trigger('work', { n: 1 }, { tags: [tag] });
    const ofFirst = await publicToken(`read:runs:${first}`);
    await show('useRealtimeRun', { id: first }, ofFirst);
    await shows({ run: { id: first, ...done(1), tags: [tag] } });
    await expect.poll(() => tab.evaluate('completed')).toBe('COMPLETED');
    await show('useRun', { id: first }, ofFirst);
    await shows({ run: done(1) });
    await show('useRealtimeRunWithStreams', { id: first }, ofFirst);
    await shows({ run: done(1), streams: { old: words } });
    if (exported.includes('useRealtimeStream')) {
      await show('useRealtimeStream', { id: first }, ofFirst);
      await shows({ parts: words });
    }

    if (exported.includes('useInputStreamSend')) {
      const asking = await served.trigger('answered', {});
      await show('useInputStreamSend', { id: asking }, await publicToken(`write:inputStreams:${asking}`));
      await shows({ isReady: true });
      await act();
      expect(await served.ended(asking)).toMatchObject({ status: 'COMPLETED', output: { approved: true } });
    }

    await show('useRealtimeRunsWithTag', { tag }, await publicToken(`read:tags:${tag}`));
    await shows({ runs: [done(1)] });
    await served.trigger('work', { n: 2 }, { tags: [tag] });
    await shows({ runs: [done(1), done(2)] });

    const body = { runCount: 2 };
    const { body: batch } = await server.ask('/api/v3/batches', { method: 'POST', key: served.key, body });
    const items = [0, 1].map((index) => JSON.stringify({ index, task: 'work', payload: { n: index } }));
    await server.ask(`/api/v3/batches/${batch.id}/items`, {
      method: 'POST',
      key: served.key,
      headers: { 'content-type': 'application/x-ndjson' },
      body: `${items.join('\n')}\n`,
    });
    await show('useRealtimeBatch', { id: batch.id }, await publicToken(`read:batch:${batch.id}`));
    await shows({ runs: [expect.objectContaining({ status: 'COMPLETED' }), { status: 'COMPLETED' }] });

    const triggering = await publicToken('trigger:tasks:work');
    await show('useTaskTrigger', { task: 'work' }, triggering);
    await act();
    await shows({ handle: { id: expect.stringMatching(/^run_/) as string } });
    await show('useRealtimeTaskTrigger', { task: 'work' }, triggering);
    await act();
    await shows({ run: done(5) });
    await show('useRealtimeTaskTriggerWithStreams', { task: 'work' }, triggering);
    await act();
    await shows({ run: done(6), streams: { old: words } });

    const { body: token } = await server.ask('/api/v1/waitpoints/tokens', {
      method: 'POST',
      key: served.key,
      body: {},
    });
    const waiting = await served.trigger('approved', { token: token.id });
    await show('useWaitToken', { id: token.id }, await publicToken(`write:waitpoints:${token.id}`));
    await act();
    await shows({ isCompleted: true });
    expect(await served.ended(waiting)).toMatchObject({ status: 'COMPLETED', output: { approved: true } });

    if (exported.includes('useSessionStream')) {
      const { body: session } = await server.ask('/api/v1/sessions', {
        method: 'POST',
        key: served.key,
        body: {
          type: 'chat',
          externalId: `chat-${minor}`,
          taskIdentifier: 'work',
          triggerConfig: { basePayload: { n: 7 } },
        },
      });
      const reading = await publicToken(`read:sessions:${session.id}`);
      for (const [path, name, hello] of [
        ['out', 'useSessionStream', 'session'],
        ['channels/side/out', 'useSessionStreamChannel', 'channel'],
      ] as const) {
        const url = `/realtime/v1/sessions/${session.id}/${path}/append`;
        await server.ask(url, { method: 'POST', key: served.key, body: hello });
        await show(name, { id: session.id }, reading);
        await shows({ records: [hello] });
      }
    }
  },
);
