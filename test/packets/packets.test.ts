/** Payloads and outputs that are stored separately from their run, with both SDKs, a real server and a real runner. */
import {
  configure as configurePublished,
  runs as publishedRuns,
  tasks as publishedTasks,
} from '@trigger.dev/sdk';
import { configure, runs, tasks } from '@millrace/sdk';
import { expect, test } from 'vitest';
import { startProject } from '../support/project.ts';
import { testServer } from '../support/server.ts';
import { sharedServer, type SharedServer } from '../support/shared-server.ts';

const kib = 1_024;
const files = {
  'tasks/measure.ts': `
    import { task } from '@millrace/sdk';
    export const measure = task({
      id: 'measure',
      run: async (payload: any) => ({
        letters: payload.text.length,
        date: payload.at instanceof Date ? payload.at.getTime() : null,
        back: 'y'.repeat(payload.back ?? 0),
      }),
    });`,
};

test('passes a large payload to the task and a large output back, with the published SDK and ours', async () => {
  const server = await sharedServer();
  await startProject(server, files);
  const payload = { text: 'x'.repeat(200 * kib), at: new Date(5), back: 300 * kib };
  const expected = { letters: 200 * kib, date: 5, back: 'y'.repeat(300 * kib) };

  configurePublished({ baseURL: server.url, accessToken: server.keys.prod });
  const theirs = await publishedTasks.trigger('measure', payload);
  const seen = await publishedRuns.poll(theirs.id, { pollIntervalMs: 100 });
  expect(seen).toMatchObject({ status: 'COMPLETED', output: expected, payload });

  configure({ baseURL: server.url, secretKey: server.keys.prod });
  const ours = await tasks.trigger('measure', payload);
  const run = await runs.poll(ours.id, { pollIntervalMs: 50 });
  expect(run).toMatchObject({ status: 'COMPLETED', output: expected });
  expect(run.payload).toMatchObject({ text: payload.text, at: '1970-01-01T00:00:00.005Z' });

  const { body: wire } = await server.ask(`/api/v3/runs/${ours.id}`);
  expect(wire).not.toHaveProperty('payload');
  expect(wire).not.toHaveProperty('output');
  expect(wire.outputPresignedUrl).toMatch(new RegExp(`^${server.url}/packets/v1/`));
  const { body: result } = await server.ask(`/api/v1/runs/${ours.id}/result`);
  expect(result).toMatchObject({ ok: true, outputType: 'application/json' });
  expect(JSON.parse(result.output)).toEqual(expected);
  for (const field of ['payload', 'output'] as const) {
    const { body } = await server.ask(`/api/v1/runs/${ours.id}/packets/${field}`);
    const stored = await fetch(body.presignedUrl);
    expect(stored.headers.get('content-type')).toBe(
      field === 'payload' ? 'application/super+json' : 'application/json',
    );
    expect((await stored.text()).length).toBeGreaterThan(200 * kib);
  }

  const again = await runs.replay(ours.id);
  expect(await runs.poll(again.id, { pollIntervalMs: 50 })).toMatchObject({ output: expected });
  const other = await runs.replay(ours.id, { payload: { text: 'z'.repeat(150 * kib) } });
  expect(await runs.poll(other.id, { pollIntervalMs: 50 })).toMatchObject({ output: { letters: 150 * kib } });
}, 90_000);

let shared: SharedServer;
async function address(name: string, method: 'PUT' | 'GET' = 'PUT', server = shared): Promise<string> {
  const path = method === 'PUT' ? '/api/v2/packets/' : '/api/v1/packets/';
  const { status, body } = await server.ask(path + encodeURIComponent(name), { method });
  expect(status).toBe(200);
  return body.presignedUrl;
}
const put = (url: string, body: string | ReadableStream, type = 'application/json') =>
  fetch(url, { method: 'PUT', body, headers: { 'content-type': type }, duplex: 'half' });

test('rejects a URL that was changed, is for something else, or has expired', async () => {
  const own = await testServer();
  shared = own;
  const url = await address('a/b.json');
  expect((await put(url, '{"n":1}')).status).toBe(200);
  const [start, token = ''] = url.split('/packets/v1/');
  const [claims = '', mac = ''] = token.split('.');
  const forged = Buffer.from(
    JSON.stringify({ ...JSON.parse(Buffer.from(claims, 'base64url').toString()), name: 'other' }),
  ).toString('base64url');
  const flipped = mac.startsWith('A') ? `B${mac.slice(1)}` : `A${mac.slice(1)}`;
  for (const wrong of [
    `${forged}.${mac}`,
    `${claims}.${flipped}`,
    claims,
    `${claims}.`,
    '.',
    'x'.repeat(2_000),
  ]) {
    const reply = await fetch(`${start}/packets/v1/${wrong}`, { method: 'PUT', body: '1' });
    expect([wrong.slice(0, 20), reply.status]).toEqual([wrong.slice(0, 20), 403]);
    expect(reply.headers.get('x-should-retry')).toBe('false');
    expect(await reply.json()).toEqual({ error: expect.stringContaining('Request a new one') });
  }
  const read = await fetch(url);
  expect([read.status, ((await read.json()) as { error: string }).error]).toEqual([
    403,
    expect.stringContaining('PUT'),
  ]);
  const readUrl = await address('a/b.json', 'GET');
  expect(await (await fetch(readUrl)).json()).toEqual({ n: 1 });
  expect((await put(readUrl, '2')).status).toBe(403);
  own.shiftTime(5 * 60_000 + 1_000);
  const late = await fetch(readUrl);
  expect([late.status, ((await late.json()) as { error: string }).error]).toEqual([
    403,
    expect.stringContaining('no longer valid'),
  ]);
  expect((await put(url, '{}')).status).toBe(403);
});

test('isolates environments, rejects names that escape their path, and requires a credential', async () => {
  shared = await sharedServer();
  expect((await put(await address('mine.json'), '1')).status).toBe(200);
  const ask = (name: string, key = shared.keys.prod, method = 'GET') =>
    shared.ask(`/api/v1/packets/${name}`, { key, method });
  expect((await ask('mine.json')).status).toBe(200);
  expect((await ask('mine.json', shared.keys.stg)).status).toBe(404);
  const trigger = (key: string, payload: unknown) =>
    shared.ask('/api/v1/tasks/echo/trigger', {
      method: 'POST',
      key,
      body: { payload, options: { payloadType: 'application/store' } },
    });
  expect((await trigger(shared.keys.prod, 'mine.json')).status).toBe(200);
  for (const wrong of ['mine.jso', '', 7, undefined, 'a\u0000b']) {
    const { status, body } = await trigger(shared.keys.prod, wrong);
    expect([status, body.error]).toEqual([422, expect.stringContaining('payload')]);
  }
  expect((await trigger(shared.keys.stg, 'mine.json')).status).toBe(422);
  for (const name of [
    '..%2Fmine.json',
    'a%2F..%2Fmine.json',
    '%2Fmine.json',
    'a%2F%2Fb',
    'a%5C..%5Cb',
    '%2e%2E',
    'a%00',
    'x'.repeat(513),
  ]) {
    const { status } = await ask(name, shared.keys.prod, 'PUT');
    expect([name.slice(0, 30), [400, 404].includes(status)]).toEqual([name.slice(0, 30), true]);
  }
  // Decoded once: the result is an ordinary name.
  expect((await ask('%252e%252e%252fmine.json', shared.keys.prod, 'PUT')).body.storagePath).toBe(
    '%2e%2e%2fmine.json',
  );
  expect((await ask('mine.json', '')).status).toBe(401);
  expect((await ask('mine.json', shared.personalAccessToken)).status).toBe(401);
});

test('stops reading a too large packet, and the payload of a run no longer changes', async () => {
  const own = await testServer();
  shared = own;
  const url = await address('big');
  const chunk = new Uint8Array(1_024 * kib);
  const endless = (count: number) =>
    new ReadableStream({
      pull(controller) {
        if (count-- > 0) controller.enqueue(chunk);
        else controller.close();
      },
    });
  // The response arrives while the client is still sending.
  for (const megabytes of [11, 11, 40]) {
    expect((await put(url, endless(megabytes))).status).toBe(413);
    expect((await put(url, 'x'.repeat(megabytes * 1_024 * kib))).status).toBe(413);
  }
  expect((await shared.ask('/api/v1/packets/big')).status).toBe(404);
  expect((await put(url, endless(10), 'text/html')).status).toBe(200);
  const stored = await fetch(await address('big', 'GET'));
  expect(stored.headers.get('content-type')).toBe('application/octet-stream');
  expect(stored.headers.get('content-disposition')).toBe('attachment');
  expect((await stored.arrayBuffer()).byteLength).toBe(10 * 1_024 * kib);

  expect((await put(url, '"one"')).status).toBe(200);
  expect((await put(url, '"two"')).status).toBe(200);
  const { body: run } = await shared.ask('/api/v1/tasks/echo/trigger', {
    method: 'POST',
    body: { payload: 'big', options: { payloadType: 'application/store' } },
  });
  const later = await put(url, '"three"');
  expect([later.status, later.headers.get('x-should-retry')]).toEqual([409, 'false']);
  const { body } = await shared.ask(`/api/v3/runs/${run.id}`);
  expect(await (await fetch(body.payloadPresignedUrl)).json()).toBe('two');
});

test('accepts uploads only from callers that may trigger a task', async () => {
  shared = await sharedServer();
  const token = async (scopes: string[], oneTimeUse = false) => {
    const { body } = await shared.ask('/api/v1/auth/public-tokens', {
      method: 'POST',
      body: { scopes, oneTimeUse },
    });
    return body.token as string;
  };
  const upload = async (key: string) =>
    (await shared.ask('/api/v2/packets/a', { method: 'PUT', key })).status;
  expect(await upload(await token(['trigger:tasks:echo']))).toBe(200);
  expect(await upload(await token(['write:tasks']))).toBe(200);
  expect(await upload(await token(['trigger:tasks:echo'], true))).toBe(200);
  expect(await upload(await token(['batchTrigger:tasks:echo'], true))).toBe(200);
  for (const scope of ['read:tasks:echo', 'write:runs', 'read:runs']) {
    expect([scope, await upload(await token([scope]))]).toEqual([scope, 403]);
  }
});

test('returns the packets of a run only to callers that may read that run', async () => {
  shared = await sharedServer();
  const name = 'trigger/echo/payload.json';
  expect((await put(await address(name), '{"n":1}')).status).toBe(200);
  const trigger = async (tag: string) => {
    const options = { payloadType: 'application/store', tags: [tag] };
    const body = { payload: name, options };
    return (await shared.ask('/api/v1/tasks/echo/trigger', { method: 'POST', body })).body.id as string;
  };
  const [first, second] = [await trigger('a'), await trigger('b')];
  const read = async (scope: string, packet = encodeURIComponent(name)) => {
    const body = { scopes: [scope] };
    const minted = await shared.ask('/api/v1/auth/public-tokens', { method: 'POST', body });
    return (await shared.ask(`/api/v1/packets/${packet}`, { key: minted.body.token })).status;
  };
  // The last one is the form of clients before 4.4.
  for (const packet of [encodeURIComponent(name), name]) {
    for (const scope of [
      'read:runs',
      `read:runs:${first}`,
      `read:runs:${second}`,
      'read:tags:b',
      'read:tasks:echo',
    ]) {
      expect([scope, await read(scope, packet)]).toEqual([scope, 200]);
    }
    for (const scope of ['read:runs:run_other', 'read:tags:c', `write:runs:${first}`, 'trigger:tasks:echo']) {
      expect([scope, await read(scope, packet)]).toEqual([scope, 403]);
    }
  }
  // Only a caller that may read all packets sees whether one exists.
  expect([await read('read:runs:x', 'nothing'), await read('read:runs', 'nothing')]).toEqual([403, 404]);
});
