import { expect, test } from 'vitest';
import { sessionServer, type SessionServer } from '../../sessions/session-server.ts';

/** Writes to a session's `.in` at the address that a client received, with a session's own public token. */
async function writerOf(server: SessionServer, session: string, publicToken: string) {
  const { status, headers } = await server.ask(`/realtime/v1/sessions/${session}/in`, {
    method: 'PUT',
    key: publicToken,
  });
  expect(status).toBe(202);
  const stream = headers.get('x-s2-stream-name') ?? '';
  const key = headers.get('x-s2-access-token') ?? '';
  return (records: readonly object[]) =>
    server.ask(`/s2/v1/streams/${stream}/records`, { method: 'POST', key, body: { records } });
}

const messages = async (server: SessionServer, session: string): Promise<unknown[]> =>
  (await server.ask(`/realtime/v1/sessions/${session}/in/records`)).body.records.map(
    ({ data }: { data: unknown }) => data,
  );
const bodyOf = (data: unknown): object => ({ body: JSON.stringify({ data, id: 'part' }) });

test('messages written over S2 start a run, like appended messages', async () => {
  const server = await sessionServer();
  const { id, runId, publicAccessToken } = await server.start({ externalId: 'a' });
  const write = await writerOf(server, 'a', publicAccessToken);
  expect((await write([bodyOf('while it lives')])).status).toBe(200);
  expect((await server.ask(`/api/v1/sessions/${id}`)).body.currentRunId).toBe(runId);
  await server.endRun(runId);
  expect((await write([bodyOf('after its end'), bodyOf('and more')])).status).toBe(200);
  const { currentRunId } = (await server.ask(`/api/v1/sessions/${id}`)).body;
  expect(currentRunId).not.toBe(runId);
  expect((await server.ask(`/api/v3/runs/${currentRunId}`)).body).toMatchObject({ isCompleted: false });
  expect(await messages(server, 'a')).toEqual(['while it lives', 'after its end', 'and more']);
});

test('a writer can neither mark a message as coming from a webhook nor send commands to .in', async () => {
  const server = await sessionServer();
  const { publicAccessToken } = await server.start({ externalId: 'a' });
  const write = await writerOf(server, 'a', publicAccessToken);
  const marked = { kind: 'message', payload: { actionSource: 'webhook', n: 1 } };
  const written = await write([
    bodyOf(JSON.stringify(marked)),
    bodyOf(marked),
    bodyOf(JSON.stringify(marked).replace('webhook', String.raw`web\u0068ook`)),
    bodyOf('webhook'),
    { body: 'webhook' },
  ]);
  expect(written.status).toBe(200);
  const plain = { kind: 'message', payload: { n: 1 } };
  const seen = (await server.ask('/realtime/v1/sessions/a/in/records')).body.records;
  expect(seen.slice(0, 4).map(({ data }: { data: unknown }) => data)).toEqual([
    JSON.stringify(plain),
    plain,
    JSON.stringify(plain),
    'webhook',
  ]);
  const trim = await write([{ body: '12345678', headers: [['', 'trim']] }]);
  expect([trim.status, trim.body.code]).toEqual([400, 'bad_request']);
  expect(await messages(server, 'a')).toHaveLength(5);
});

test('a closed session rejects writes over S2', async () => {
  const server = await sessionServer();
  const { publicAccessToken } = await server.start({ externalId: 'a' });
  const write = await writerOf(server, 'a', publicAccessToken);
  await server.ask('/api/v1/sessions/a/close', { method: 'POST', body: {} });
  const refused = await write([bodyOf('too late')]);
  expect([refused.status, refused.body.message]).toEqual([400, 'Cannot append to a closed session']);
});
