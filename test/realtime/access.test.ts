import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { followEvents } from '../sessions/session-server.ts';
import { testServer } from '../support/server.ts';
import { sharedServer, type SharedServer } from '../support/shared-server.ts';

async function trigger(server: SharedServer, tags: readonly string[] = []): Promise<string> {
  const { body } = await server.ask('/api/v1/tasks/work/trigger', {
    method: 'POST',
    body: { payload: 'secret', options: { tags, metadata: { m: 1 } } },
  });
  return (body as { id: string }).id;
}

async function tokenFor(
  server: SharedServer,
  scopes: readonly string[],
  more: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const { body } = await server.ask('/api/v1/auth/public-tokens', {
    method: 'POST',
    body: { scopes, ...more },
  });
  return (body as { token: string }).token;
}

const openBatch = async (server: SharedServer): Promise<string> => {
  const { body } = await server.ask('/api/v3/batches', { method: 'POST', body: { runCount: 1 } });
  return (body as { id: string }).id;
};

test('a subscription is allowed with exactly the scopes for its runs', async () => {
  const server = await sharedServer();
  const mine = await trigger(server, ['a', 'b']);
  const other = await trigger(server);
  const batch = await openBatch(server);
  const paths = {
    mine: `runs/${mine}`,
    other: `runs/${other}`,
    missing: 'runs/run_none',
    a: 'runs?tags=a',
    both: 'runs?tags=a,b',
    c: 'runs?tags=c',
    work: 'runs?tags=c&tasks=work',
    batch: `batches/${batch}`,
  };
  const opened = async (scope: string): Promise<string[]> => {
    const key = await tokenFor(server, [scope]);
    const open: string[] = [];
    for (const [name, path] of Object.entries(paths)) {
      const separator = path.includes('?') ? '&' : '?';
      const { status } = await server.ask(`/realtime/v1/${path}${separator}offset=-1`, { key });
      expect([200, 403, 404]).toContain(status);
      if (status === 200) open.push(name);
      const [base = '', query] = path.split('?');
      const events = await followEvents(
        `${server.url}/realtime/v1/${base}/events${query ? `?${query}` : ''}`,
        { authorization: `Bearer ${key}` },
      );
      expect([name, events.status]).toEqual([name, status]);
      await events.cancel();
    }
    return open;
  };
  expect(await opened(`read:runs:${mine}`)).toEqual(['mine']);
  expect(await opened('read:tags:a')).toEqual(['mine', 'a', 'both']);
  expect(await opened('read:tags:c')).toEqual(['c', 'work']);
  expect(await opened('read:tasks:work')).toEqual(['mine', 'other', 'work']);
  expect(await opened(`read:batch:${batch}`)).toEqual(['batch']);
  expect(await opened('read:runs')).toEqual(['mine', 'other', 'a', 'both', 'c', 'work', 'batch']);
  expect(await opened('write:runs')).toEqual([]);
  expect((await server.ask(`/realtime/v1/runs/${mine}?offset=-1`, { key: server.keys.stg })).status).toBe(
    404,
  );
  expect((await server.ask(`/realtime/v1/runs/${mine}?offset=-1`, { key: '' })).status).toBe(401);
});

test('columns that a token excludes are excluded from every request', async () => {
  const server = await sharedServer();
  const run = await trigger(server);
  const key = await tokenFor(server, [`read:runs:${run}`], { realtime: { skipColumns: ['payload'] } });
  const { body, headers } = await server.ask(`/realtime/v1/runs/${run}?offset=-1&columns=payload,metadata`, {
    key,
  });
  expect(JSON.stringify(body)).not.toContain('secret');
  expect(body[0].value).toMatchObject({ id: run, metadata: '{"m":1}' });
  expect(body[0].value).not.toHaveProperty('ttl');
  expect(headers.get('access-control-expose-headers')).toContain('electric-offset');
  const reader = await followEvents(`${server.url}/realtime/v1/runs/${run}/events`, {
    authorization: `Bearer ${key}`,
  });
  const event = JSON.parse((await reader.next())?.data ?? '{}') as Record<string, unknown>;
  expect(event).toMatchObject({ id: run, metadata: { m: 1 } });
  expect(event).not.toHaveProperty('payload');
  await reader.cancel();
});

test('unknown columns to exclude are ignored, for any name', async () => {
  const server = await sharedServer();
  const run = await trigger(server, ['a']);
  const names = 'nonsense,constructor,toString,__proto__,hasOwnProperty';
  for (const path of [`runs/${run}/events?`, 'runs/events?tags=a&']) {
    const reader = await followEvents(`${server.url}/realtime/v1/${path}skipColumns=${names},payload`, {
      authorization: `Bearer ${server.keys.prod}`,
    });
    const event = JSON.parse((await reader.next())?.data ?? '{}') as Record<string, unknown>;
    expect(event).toMatchObject({ id: run, metadata: { m: 1 } });
    expect(event).not.toHaveProperty('payload');
    await reader.cancel();
  }
  const shape = await server.ask(`/realtime/v1/runs/${run}?offset=-1&skipColumns=${names}&columns=${names}`);
  expect(shape.body[0].value).toMatchObject({ id: run });
});

test('a token that expires ends its streams and long polls', async () => {
  const server = await sharedServer();
  const run = await trigger(server);
  const text = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const { body: claims } = await server.ask('/api/v1/auth/jwt/claims', { method: 'POST' });
  const now = Math.floor(Date.now() / 1_000);
  const payload = text({
    ...(claims as object),
    scopes: [`read:runs:${run}`],
    iss: 'https://id.trigger.dev',
    aud: 'https://api.trigger.dev',
    iat: now,
    exp: now + 3,
  });
  const signed = `${text({ alg: 'HS256' })}.${payload}`;
  const key = `${signed}.${createHmac('sha256', server.keys.prod).update(signed).digest('base64url')}`;
  const reader = await followEvents(`${server.url}/realtime/v1/runs/${run}/events`, {
    authorization: `Bearer ${key}`,
  });
  expect((await reader.next())?.event).toBe('run');
  const first = await server.ask(`/realtime/v1/runs/${run}?offset=-1`, { key });
  expect(first.status).toBe(200);
  const live = server.ask(
    `/realtime/v1/runs/${run}?live=true&offset=${first.headers.get('electric-offset')}` +
      `&handle=${first.headers.get('electric-handle')}`,
    { key },
  );
  await expect(reader.next()).rejects.toThrow('terminated');
  expect((await live).body).toEqual([{ headers: { control: 'up-to-date' } }]);
  expect((await server.ask(`/realtime/v1/runs/${run}?offset=-1`, { key })).status).toBe(401);
});

test('subscribers over the limit get 429 with Retry-After', async () => {
  const server = await testServer({ streamLimits: { subject: 1 } });
  const run = await trigger(server);
  const headers = { authorization: `Bearer ${server.keys.prod}` };
  const stream = await followEvents(`${server.url}/realtime/v1/runs/${run}/events`, headers);
  await stream.next();
  const two = await followEvents(`${server.url}/realtime/v1/runs/${run}/events`, headers);
  expect([two.status, two.headers.get('retry-after')]).toEqual([429, '5']);
  await stream.cancel();
});

test('an invalid query parameter is rejected by name, and an unknown position leads to a refetch', async () => {
  const server = await sharedServer();
  await trigger(server, ['a']);
  for (const [path, parameter] of [
    ['runs?offset=-1', 'tags'],
    ['runs?tags=,&offset=-1', 'tags'],
    ['runs?tags=a&createdAt=soon&offset=-1', 'createdAt'],
    ['runs?tags=a&live=maybe&offset=-1', 'live'],
    [`runs?tags=${'x'.repeat(129)}&offset=-1`, 'tags'],
  ]) {
    const { status, body } = await server.ask(`/realtime/v1/${path}`);
    expect([path, status, body.details[0].path[0]]).toEqual([path, 400, parameter]);
  }
  for (const offset of ['', 'x', '-2', '0_', '99999999999999999_1', '0_run_x', "1_'or'1"]) {
    const { status, body } = await server.ask(`/realtime/v1/runs?tags=a&offset=${offset}`);
    expect([offset, status, body]).toEqual([offset, 409, [{ headers: { control: 'must-refetch' } }]]);
  }
  expect((await server.ask('/realtime/v1/runs?tags=a&offset=-1&handle=x')).status).toBe(200);
});

test('more runs than fit in one response are paged, and sent in one stream', async () => {
  const server = await sharedServer();
  const items = Array.from({ length: 450 }, (_, n) => ({
    task: 'work',
    payload: n,
    options: { tags: ['many'] },
  }));
  const { body: created } = await server.ask('/api/v1/tasks/trigger-many', {
    method: 'POST',
    body: { items },
  });
  const ids = (created.results as { id: string }[]).map(({ id }) => id).toSorted();
  const received: string[] = [];
  let requests = 0;
  for (let query = 'offset=-1'; query !== ''; requests++) {
    const { body, headers } = await server.ask(`/realtime/v1/runs?tags=many&${query}`);
    const messages = body as { headers: { operation?: string }; value?: { id: string } }[];
    for (const { value } of messages) if (value) received.push(value.id);
    query = headers.has('electric-up-to-date')
      ? ''
      : `offset=${headers.get('electric-offset')}&handle=${headers.get('electric-handle')}`;
  }
  expect([requests, received]).toEqual([3, ids]);
  const reader = await followEvents(`${server.url}/realtime/v1/runs/events?tags=many&skipColumns=payload`, {
    authorization: `Bearer ${server.keys.prod}`,
  });
  const streamed: string[] = [];
  while (streamed.length < 450) streamed.push(JSON.parse((await reader.next())?.data ?? '{}').id as string);
  expect(streamed).toEqual(ids);
  await reader.cancel();
});
