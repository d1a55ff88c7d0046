import { describe, expect, onTestFinished, test } from 'vitest';
import { connect } from '../../packages/server/src/db/connect.ts';
import { testServer } from '../support/server.ts';
import { sharedServer } from '../support/shared-server.ts';

const trigger = '/api/v1/tasks/send/trigger';

describe('rejected requests', () => {
  test('get the responses of the contract, and write nothing', async () => {
    const server = await testServer();
    const post = (body: unknown, more: object = {}) => server.ask(trigger, { method: 'POST', body, ...more });

    expect(await post('{"payload":')).toMatchObject({ status: 400, body: { error: 'Invalid JSON' } });
    expect(await post('')).toMatchObject({ status: 400, body: { error: 'Request body is empty' } });
    const wrong = await post({ options: { maxAttempts: 'three' } });
    expect(wrong.status).toBe(400);
    expect(wrong.body.error).toMatch(/^Validation error: .* at "options\.maxAttempts"/);
    expect((await post({ options: { delay: 'soon' } })).body.error).toMatch(
      /^options\.delay: "soon" cannot be read/,
    );
    expect((await post({ options: { delay: '10' } })).status).toBe(400);
    expect((await post({ options: { tags: ['x'.repeat(129)] } })).status).toBe(400);
    expect((await post({ options: { tags: Array.from({ length: 11 }, (_, i) => `t${i}`) } })).status).toBe(
      422,
    );
    expect((await post({ options: { lockToVersion: '20200101.1' } })).status).toBe(422);
    expect((await post({ payload: 'a\0b', options: { payloadType: 'text/plain' } })).status).toBe(400);
    expect(await post({ payload: 'x'.repeat(3_145_728) })).toMatchObject({
      status: 413,
      body: { error: 'Request body too large' },
    });
    // Also while it is still being sent.
    for (let n = 0; n < 5; n++) {
      const text = JSON.stringify({ payload: 'x'.repeat(20_000_000) });
      expect((await server.ask(trigger, { method: 'POST', body: text })).status).toBe(413);
    }
    expect((await server.ask(trigger)).status).toBe(405);

    const unknown = await server.ask('/api/v3/runs/run_unknown');
    expect(unknown).toMatchObject({ status: 404, body: { error: 'Not found' } });
    expect(unknown.headers.get('x-should-retry')).toBe('true');
    expect((await server.ask('/api/v1/nothing')).status).toBe(404);

    for (const key of [
      '',
      'nonsense',
      'svc_prod_sk_000000000000000000000000',
      server.keys.prod.slice(0, -1),
      'eyJhbGciOiJub25lIn0.eyJwdWIiOnRydWV9.',
    ]) {
      const refused = await server.ask(trigger, { method: 'POST', body: {}, key });
      expect(refused.status).toBe(401);
      expect(refused.body.error).toEqual(expect.any(String));
    }
    expect(
      (await server.ask(trigger, { method: 'POST', body: {}, key: server.personalAccessToken })).status,
    ).toBe(401);

    const [row] = (await server.ask('/api/v1/errors')).body.data;
    expect(row).toBeUndefined();
    expect(server.logged.filter((line) => line.includes('request.failed'))).toEqual([]);
    expect(server.logged.join('')).not.toContain(server.keys.prod);
  });

  test('from another environment get 404 for a run', async () => {
    const server = await sharedServer();
    const { body } = await server.ask(trigger, { method: 'POST', body: {} });
    expect((await server.ask(`/api/v3/runs/${body.id}`, { key: server.keys.stg })).status).toBe(404);
    expect((await server.ask(`/api/v3/runs/${body.id}`)).status).toBe(200);
  });

  test('with an invalid errors query get the name of the parameter', async () => {
    const server = await sharedServer();
    for (const [parameter, value] of [
      ['filter[status]', 'unresolved,foo'],
      ['page[size]', '0'],
      ['page[size]', '101'],
      ['page[size]', 'ten'],
      ['filter[from]', 'yesterday'],
      ['filter[period]', '7 days'],
    ] as const) {
      const { status, body } = await server.ask(
        `/api/v1/errors?${encodeURIComponent(parameter)}=${encodeURIComponent(value)}`,
      );
      expect(status).toBe(400);
      expect(body.error).toBe('Query Error');
      expect(body.details).toEqual([
        expect.objectContaining({ code: expect.any(String), message: expect.any(String), path: [parameter] }),
      ]);
    }
  });
});

test('to a database that rejects writes get a specific error, and write nothing partially', async () => {
  const server = await testServer();
  const sql = connect(server.database, { name: 'test', max: 1 });
  onTestFinished(() => sql.end());
  await sql.unsafe(`
    create function refuse() returns trigger language plpgsql as $$
    begin raise exception 'could not extend file' using errcode = '53100'; end $$;
    create trigger refuse before insert on runs for each row execute function refuse()`);
  const refused = await server.ask(trigger, { method: 'POST', body: {} });
  expect(refused).toMatchObject({
    status: 503,
    body: { error: 'The database does not accept writes at the moment. Try again.' },
  });
  expect(refused.headers.get('x-should-retry')).toBe('true');
  expect(refused.headers.get('retry-after')).toBe('2');
  const line = JSON.parse(server.logged.at(-1) ?? '{}') as object;
  expect(line).toMatchObject({ event: 'request.failed', requestId: refused.headers.get('x-request-id') });
  await sql`drop trigger refuse on runs`;
  expect((await server.ask(trigger, { method: 'POST', body: {} })).status).toBe(200);
  expect(await sql`select from runs`).toHaveLength(1);
});
