import { webhookBodyLimit } from '@millrace/contract';
import type { WebhookVerification } from '@millrace/contract/runner';
import { expect, test } from 'vitest';
import { webhookServer } from './testing/webhook-server.ts';

const github: WebhookVerification = { scheme: 'github', secrets: ['HOOK_SECRET'] };
const slack: WebhookVerification = { scheme: 'slack', secrets: ['HOOK_SECRET'] };
const none: WebhookVerification = { scheme: 'none' };

test("deliveries are found by the sender's id and by time", async () => {
  const server = await webhookServer();
  const withId: WebhookVerification = { scheme: 'none', idHeader: 'x-id' };
  await server.declare({ first: withId, second: withId, without: none });
  const ids: string[] = [];
  for (const [webhook, id] of [
    ['first', 'a'],
    ['second', 'a'],
    ['first', 'b'],
  ] as const)
    ids.unshift((await server.send(webhook, withId, { body: '{}', id })).body.id);
  const other = (await server.send('without', none, { body: '{}' })).body.id;
  const find = async (filter: Record<string, string>): Promise<string[]> => {
    const { body } = await server.ask(`/api/v1/webhook-deliveries?${new URLSearchParams(filter).toString()}`);
    return body.data.map(({ id }: { id: string }) => id);
  };
  expect(await find({ 'filter[senderId]': 'a' })).toEqual([ids[1], ids[2]]);
  expect(await find({ 'filter[senderId]': 'a', 'filter[webhook]': 'first' })).toEqual([ids[2]]);
  // A delivery without a sender's id is stored under its own id.
  expect(await find({ 'filter[senderId]': other })).toEqual([]);
  expect(await find({ 'filter[senderId]': '\0' })).toEqual([]);
  const { receivedAt } = (await server.ask(`/api/v1/webhook-deliveries/${ids[1]}`)).body;
  const after = await find({ 'filter[from]': receivedAt });
  expect(after).toEqual(expect.arrayContaining([other, ids[0], ids[1]]));
  const before = await find({ 'filter[to]': String(Date.parse(receivedAt) - 1) });
  expect(before.every((id) => !after.includes(id))).toBe(true);
  expect((await server.ask('/api/v1/webhook-deliveries?filter[from]=x')).status).toBe(400);
});

test('a test request is signed, verified and stored like one of the provider', async () => {
  const server = await webhookServer();
  await server.declare({ pushes: github, chat: slack });
  const send = (webhook: string, body: unknown = {}) =>
    server.ask(`/api/v1/webhooks/${webhook}/send`, { method: 'POST', body });
  const unset = await send('pushes');
  expect(unset.status).toBe(503);
  expect(unset.headers.get('x-millrace-error-code')).toBe('webhook_secret_missing');

  await server.setVariable('HOOK_SECRET', 'secret');
  const request = { id: 'd-1', body: '{"n":1}', headers: { 'X-GitHub-Event': 'push' } };
  await expect.poll(async () => (await send('pushes', request)).status).toBe(200);
  const { body: again } = await send('pushes', request);
  expect(again.isDuplicate).toBe(true);
  const { body: delivery } = await server.ask(`/api/v1/webhook-deliveries/${again.id}`);
  expect(delivery).toMatchObject({
    webhook: 'pushes',
    senderId: 'd-1',
    rawBody: '{"n":1}',
    headers: { 'content-type': 'application/json', 'x-github-event': 'push' },
    runs: [{ taskIdentifier: 'pushes' }],
  });

  const large = await send('pushes', { body: 'é'.repeat(webhookBodyLimit / 2 + 1) });
  expect(large.status).toBe(413);
  expect((await send('other')).status).toBe(404);
  const challenge = { body: '{"type":"url_verification","challenge":"abc"}' };
  expect((await send('chat', challenge)).status).toBe(422);
  for (const [field, invalid] of [
    ['body', { body: 5 }],
    ['contentType', { contentType: 'text/plain\nx: y' }],
    ['headers', { headers: { 'x y': 'z' } }],
  ] as const) {
    const reply = await send('pushes', invalid);
    expect(reply.status).toBe(400);
    expect(JSON.stringify(reply.body)).toContain(field);
  }
});
