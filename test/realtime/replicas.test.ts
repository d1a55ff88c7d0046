import { apiClientManager } from '@trigger.dev/core/v3';
import { configure } from '@trigger.dev/sdk';
import { expect, onTestFinished, test } from 'vitest';
import { followEvents, type EventReader } from '../sessions/session-server.ts';
import { testDatabase } from '../support/database.ts';
import { testServer, type TestServer } from '../support/server.ts';

interface RunEvent {
  readonly id: string;
  readonly status: string;
  readonly tags: readonly string[];
}

const wait = { timeout: 20_000 };
/** Long enough for two servers and their databases to start on a busy machine. */
const patience = 60_000;

async function twoServers(): Promise<readonly [TestServer, TestServer]> {
  const { connection, drop } = await testDatabase();
  onTestFinished(drop);
  const first = await testServer({ database: connection, reveal: true });
  const second = await testServer({ database: connection, reveal: true });
  return [first, second];
}

async function trigger(server: TestServer, tags: readonly string[]): Promise<string> {
  const { body } = await server.ask('/api/v1/tasks/work/trigger', {
    method: 'POST',
    body: { payload: { a: 1 }, options: { tags } },
  });
  return (body as { id: string }).id;
}

const cancel = (server: TestServer, run: string) =>
  server.ask(`/api/v2/runs/${run}/cancel`, { method: 'POST' });
const follow = (server: TestServer, path: string, headers: Readonly<Record<string, string>> = {}) =>
  followEvents(`${server.url}/realtime/v1/${path}`, {
    authorization: `Bearer ${server.keys.prod}`,
    ...headers,
  });
const runOf = (event: { data: string } | undefined): RunEvent =>
  JSON.parse(event?.data ?? 'null') as RunEvent;

async function untilEnd(reader: EventReader): Promise<RunEvent[]> {
  const events: RunEvent[] = [];
  for (let event = await reader.next(); event?.event === 'run'; event = await reader.next()) {
    events.push(runOf(event));
  }
  return events;
}

test(
  'a change made through one server is streamed by the other, and the stream ends with the run',
  { timeout: patience },
  async () => {
    const [first, second] = await twoServers();
    const run = await trigger(first, []);
    const reader = await follow(second, `runs/${run}/events`);
    expect(reader.headers.get('content-type')).toContain('text/event-stream');
    expect(runOf(await reader.next())).toMatchObject({ id: run, status: 'PENDING_VERSION' });
    await first.ask(`/api/v1/runs/${run}/tags`, { method: 'POST', body: { tags: ['late'] } });
    expect(runOf(await reader.next())).toMatchObject({ tags: ['late'] });
    await cancel(first, run);
    expect((await untilEnd(reader)).at(-1)).toMatchObject({ status: 'CANCELED' });
  },
);

test(
  'a disconnected subscriber gets a missed change from the other server, and nothing if there was none',
  { timeout: patience },
  async () => {
    const [primary, second] = await twoServers();
    const run = await trigger(primary, []);
    const reader = await follow(primary, `runs/${run}/events`);
    const first = await reader.next();
    await reader.cancel();
    const again = await follow(second, `runs/${run}/events`, { 'last-event-id': first?.id ?? '' });
    const next = again.next();
    await cancel(primary, run);
    expect(runOf(await next)).toMatchObject({ status: 'CANCELED' });
    const ended = await follow(primary, `runs/${run}/events`);
    const last = await ended.next();
    const after = await follow(second, `runs/${run}/events`, { 'last-event-id': last?.id ?? '' });
    expect((await after.next())?.event).toBe('end');
  },
);

test(
  'runs with a tag are followed through disconnects and server changes without loss',
  { timeout: patience },
  async () => {
    const [first, second] = await twoServers();
    const servers = [first, second] as const;
    const known = new Map<string, string>();
    const created: string[] = [await trigger(first, ['t'])];
    let last = '';
    let turn = 0;
    let done = false;
    const following = (async () => {
      while (!done) {
        const server = servers[turn++ % 2] as TestServer;
        const resume: Record<string, string> = last === '' ? {} : { 'last-event-id': last };
        const reader = await follow(server, 'runs/events?tags=t', resume).catch(() => undefined);
        if (!reader) continue;
        const cut = setTimeout(() => void reader.cancel(), 150);
        for (;;) {
          const event = await reader.next().catch(() => undefined);
          if (!event) break;
          if (event.id !== undefined) last = event.id;
          const run = runOf(event);
          known.set(run.id, run.status);
        }
        clearTimeout(cut);
      }
    })();
    for (let n = 0; n < 20; n++) {
      const run = await trigger(servers[n % 2] as TestServer, ['t', `n${n}`]);
      created.push(run);
      if (n % 3 === 0) await cancel(servers[(n + 1) % 2] as TestServer, created[n] as string);
    }
    for (const run of created) await cancel(first, run);
    await expect.poll(() => created.filter((run) => known.get(run) !== 'CANCELED'), wait).toEqual([]);
    expect(known.size).toBe(created.length);
    done = true;
    await following;
  },
);

test(
  'the published SDK follows a tag even if each of its requests reaches another server',
  { timeout: patience },
  async () => {
    const [first, second] = await twoServers();
    configure({ baseURL: first.url, accessToken: first.keys.prod });
    let requests = 0;
    const known = new Map<string, string>();
    const abort = new AbortController();
    const fetchClient = ((url: string, init?: RequestInit) =>
      fetch(
        String(url).replace(first.url, requests++ % 2 === 0 ? first.url : second.url),
        init,
      )) as typeof fetch;
    const subscription = apiClientManager
      .clientOrThrow()
      .subscribeToRunsWithTag('t', {}, { signal: abort.signal, fetchClient });
    const following = (async () => {
      for await (const run of subscription) known.set(run.id, run.status);
    })().catch(() => {});
    const created: string[] = [];
    for (let n = 0; n < 10; n++) created.push(await trigger(n % 2 ? first : second, ['t']));
    await expect.poll(() => known.size, wait).toBe(10);
    for (const run of created) await cancel(second, run);
    await expect.poll(() => created.filter((run) => known.get(run) !== 'CANCELED'), wait).toEqual([]);
    // No endless refetching: changes are repeated a few times at most.
    const before = requests;
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    expect(requests - before).toBeLessThan(10);
    abort.abort();
    await following;
  },
);

test(
  'a closing server breaks its streams without a proper end, and responds to long polls',
  { timeout: patience },
  async () => {
    const [first, second] = await twoServers();
    const run = await trigger(first, ['t']);
    const reader = await follow(second, 'runs/events?tags=t');
    await reader.next();
    const shape = await first.ask(`/realtime/v1/runs/${run}?offset=-1`);
    const live = first.ask(
      `/realtime/v1/runs/${run}?live=true&offset=${shape.headers.get('electric-offset')}` +
        `&handle=${shape.headers.get('electric-handle')}&cursor=${shape.headers.get('electric-cursor')}`,
    );
    const ending = reader.next().then(
      () => 'properly',
      () => 'broken off',
    );
    // Queued behind the waiting request.
    for (let n = 0; n < 3; n++) await first.ask('/api/v1/whoami');
    await second.close();
    expect(await ending).toBe('broken off');
    await first.close();
    expect((await live).body).toEqual([{ headers: { control: 'up-to-date' } }]);
  },
);
