import { apiClientManager } from '@trigger.dev/core/v3';
import { StandardRealtimeStreamsManager } from '@trigger.dev/core/v3/workers';
import {
  type auth as publishedAuth,
  configure as configurePublished,
  runs as publishedRuns,
  streams as published,
} from '@trigger.dev/sdk';
import { configure, streams, tasks } from '@millrace/sdk';
import { expect, test } from 'vitest';
import { startProject } from '../support/project.ts';
import { sharedServer } from '../support/shared-server.ts';

const project = {
  'tasks/tell.ts': `import { streams, task } from '@millrace/sdk';
export const tell = task({
  id: 'tell',
  run: async () => {
    await streams.append('news', { n: 0 });
    const piped = await streams.pipe('news', (async function* () { for (let n = 1; n < 50; n++) yield { n }; })());
    return piped;
  },
});
`,
};

test('a task writes streams that its caller reads with the token of the handle, in either SDK', async () => {
  const server = await sharedServer();
  configure({ baseURL: server.url, accessToken: server.keys.prod });
  const handle = await tasks.trigger('tell', {});
  await startProject(server, project);
  const expected = Array.from({ length: 50 }, (_, n) => ({ n }));
  configure({ baseURL: server.url, accessToken: handle.publicAccessToken });
  const read: unknown[] = [];
  for await (const chunk of streams.read(handle, 'news')) if (read.push(chunk) === 50) break;
  expect(read).toEqual(expected);

  configurePublished({ baseURL: server.url, accessToken: handle.publicAccessToken });
  const seen: unknown[] = [];
  const stream = await published.read(handle.id, 'news', { timeoutInSeconds: 1 });
  for await (const chunk of stream) seen.push(chunk);
  expect(seen).toEqual(expected);
  const rest: unknown[] = [];
  for await (const chunk of await published.read(handle.id, 'news', {
    timeoutInSeconds: 1,
    startIndex: 48,
  })) {
    rest.push(chunk);
  }
  expect(rest).toEqual(expected.slice(48));
  // It caches the first configuration of a process and does not support batches.
  const older = (await import('published-sdk-4.0')) as unknown as {
    auth: typeof publishedAuth;
    runs: typeof publishedRuns;
  };
  await older.auth.withAuth({ baseURL: server.url, accessToken: handle.publicAccessToken }, async () => {
    const chunks: unknown[] = [];
    for await (const chunk of await older.runs.fetchStream(handle.id, 'news')) {
      if (chunks.push(chunk) === 50) break;
    }
    expect(chunks).toEqual(expected);
    const beside: unknown[] = [];
    for await (const part of older.runs.subscribeToRun(handle.id).withStreams<{ news: unknown }>()) {
      if (part.type === 'news' && beside.push(part.chunk) === 50) break;
    }
    expect(beside).toEqual(expected);
  });
  for await (const run of publishedRuns.subscribeToRun(handle.id)) {
    expect(run.realtimeStreams).toEqual(['news']);
    expect(run.output).toBe(49);
  }
});

test('the published SDK writes streams of a run and follows them together with the run', async () => {
  const server = await sharedServer();
  configurePublished({ baseURL: server.url, accessToken: server.keys.prod });
  configure({ baseURL: server.url, accessToken: server.keys.prod });
  const { id } = await tasks.trigger('tell', {});
  // The implementation of `streams` in that SDK's own worker; outside of one it writes nothing.
  const manager = new StandardRealtimeStreamsManager(apiClientManager.clientOrThrow(), server.url);
  const chunks = (async function* parts() {
    yield 'one';
    yield { two: 2 };
  })();
  await manager.pipe('news', chunks, { target: id }).wait();
  await manager.append('raw', 'a text', { target: id });
  const received = new Map<string, unknown[]>();
  const following = (async () => {
    for await (const part of publishedRuns
      .subscribeToRun(id)
      .withStreams<{ news: unknown; raw: unknown }>()) {
      if (part.type === 'run') continue;
      received.set(part.type, [...(received.get(part.type) ?? []), part.chunk]);
      if (received.size === 2 && received.get('news')?.length === 2) break;
    }
  })();
  await following;
  expect(received.get('news')).toEqual(['one', { two: 2 }]);
  expect(received.get('raw')).toEqual(['a text']);
  expect(await streams.append('late', 1, { target: id })).toBe(0);
  await expect(streams.append('late', 1)).rejects.toThrow('specify the run');
  await expect(streams.append('late', 1, { target: 'run_none' })).rejects.toThrow('Run not found');
});
