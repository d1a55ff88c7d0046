import { expect, test } from 'vitest';
import { connect } from '../db/connect.ts';
import { password, startMailServer, user } from './testing/mail-server.ts';
import type { TestServer } from '../../../../test/support/server.ts';
import { notifyingServer, startNotifyingServer, type NotifyingServer } from './testing/notifying-server.ts';
import { startReceiver, type Receiver } from './testing/receiver.ts';

const waiting = { timeout: 10_000, interval: 20 };
const delivery = async (server: NotifyingServer, id: string) =>
  (await server.notifications(`/deliveries/${id}`)).body;
/** Sends a test message and waits until its first attempt has ended. */
async function tested(server: NotifyingServer, endpoint: string) {
  const { status, body } = await server.notifications(`/endpoints/${endpoint}/test`, 'POST');
  expect(status, JSON.stringify(body)).toBe(200);
  expect(body).toMatchObject({ endpointId: endpoint, type: 'endpoint.test', status: 'PENDING' });
  await expect.poll(async () => (await delivery(server, body.id)).lastAttemptAt, waiting).not.toBeNull();
  await expect
    .poll(async () => {
      const { status: now, failure } = await delivery(server, body.id);
      return now !== 'PENDING' || failure !== null;
    }, waiting)
    .toBe(true);
  return delivery(server, body.id);
}
const chat = (receiver: Receiver) => `${receiver.url}/services/T0/B0/s3cr3t-of-the-chat`;
const mailTo = (port: number, more: object = {}) => ({
  kind: 'email',
  smtp: { host: '127.0.0.1', port, security: 'tls', user, password, ...more },
  from: 'millrace@example.com',
  to: ['ops@example.com', 'boss@example.com'],
});
/** All stored data, as text. */
async function everything(server: TestServer): Promise<string> {
  const sql = connect(server.database, { name: 'test', max: 1 });
  const tables = await sql<{ name: string }[]>`
    select quote_ident(table_name) as name from information_schema.tables
     where table_schema = current_schema() and table_type = 'BASE TABLE'`;
  const rows = [];
  for (const { name } of tables) rows.push(...(await sql.unsafe(`select t::text as row from ${name} t`)));
  await sql.end({ timeout: 1 });
  return JSON.stringify(rows);
}

test('a chat receives a message in the Slack format, and its address is never returned', async () => {
  const server = await startNotifyingServer();
  const receiver = await startReceiver();
  const { status, body } = await server.add({ kind: 'slack', url: chat(receiver) });
  expect(status).toBe(200);
  expect(body).toMatchObject({
    kind: 'slack',
    url: receiver.url,
    types: ['alert.*', 'endpoint.disabled'],
    mail: null,
  });
  expect(body.secret).toBeUndefined();
  expect(await tested(server, body.id)).toMatchObject({ status: 'DELIVERED', attempts: 1 });
  expect(receiver.received[0]?.path).toBe('/services/T0/B0/s3cr3t-of-the-chat');
  expect(receiver.received[0]?.headers['webhook-signature']).toBeUndefined();
  expect(receiver.received[0]?.body).toEqual({
    text: expect.stringMatching(/^\[.+ prod\] Test message\n• Alerts of this environment are sent here\.$/),
  });
  receiver.answer = () => 404;
  expect(await tested(server, body.id)).toMatchObject({
    status: 'PENDING',
    failure: 'The endpoint returned 404',
  });
  const responses = JSON.stringify([
    (await server.notifications('/endpoints')).body,
    (await server.notifications('/deliveries')).body,
  ]);
  for (const text of [responses, await everything(server), server.logged.join('\n')])
    expect(text).not.toContain('s3cr3t');
});

test('a mail is sent over TLS, to a server that requires a password', async () => {
  const server = await notifyingServer();
  const mail = await startMailServer({ secure: true });
  const { body } = await server.add(mailTo(mail.port));
  expect(body).toMatchObject({
    kind: 'email',
    url: `smtps://127.0.0.1:${mail.port}`,
    mail: { smtp: { host: '127.0.0.1', security: 'tls', user }, to: ['ops@example.com', 'boss@example.com'] },
  });
  expect(await tested(server, body.id)).toMatchObject({
    status: 'DELIVERED',
    responseStatus: 250,
    failure: null,
  });
  expect(mail.received).toMatchObject([
    { user, isEncrypted: true, recipients: ['ops@example.com', 'boss@example.com'] },
  ]);
  const text = mail.received[0]?.text ?? '';
  expect(text).toMatch(/^Subject: \[.+ prod\] Test message$/m);
  expect(text).toMatch(/^Message-ID: <msg_[0-9a-f]+@example\.com>$/m);
  expect(text).toContain('- Alerts of this environment are sent here.');
});

test('an email is sent over STARTTLS but not without it', async () => {
  const server = await notifyingServer();
  const mail = await startMailServer();
  const { body } = await server.add(mailTo(mail.port, { security: 'starttls' }));
  expect(await tested(server, body.id)).toMatchObject({ status: 'DELIVERED' });
  expect(mail.received).toMatchObject([{ isEncrypted: true }]);
  const plain = await startMailServer({
    hideSTARTTLS: true,
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
  });
  const other = await server.add(mailTo(plain.port, { security: 'starttls' }));
  expect(await tested(server, other.body.id)).toMatchObject({ status: 'PENDING' });
  expect(plain.received).toEqual([]);
});

test('a wrong password is reported as the cause, appears nowhere, and can be replaced', async () => {
  const server = await startNotifyingServer();
  const mail = await startMailServer({ secure: true });
  const { body } = await server.add(mailTo(mail.port, { password: 'wr0ng-one' }));
  const failed = await tested(server, body.id);
  expect(failed).toMatchObject({ status: 'PENDING', responseStatus: 535 });
  expect(failed.failure).toMatch(/^The mail server replied 535 to AUTH/);
  const smtp = { host: '127.0.0.1', port: mail.port, security: 'tls', user, password };
  expect((await server.notifications(`/endpoints/${body.id}`, 'PATCH', { smtp })).status).toBe(200);
  server.shiftTime(10_000);
  await expect.poll(async () => (await delivery(server, failed.id)).status, waiting).toBe('DELIVERED');
  const { password: _, ...same } = smtp;
  // A stored password is sent only to the server that it was set for.
  const moved = { smtp: { ...same, host: 'smtp.example.com' } };
  expect(await server.notifications(`/endpoints/${body.id}`, 'PATCH', moved)).toMatchObject({
    status: 422,
    body: { error: 'smtp.password: required when the server or the user changes.' },
  });
  expect(
    (await server.notifications(`/endpoints/${body.id}`, 'PATCH', { smtp: same, to: ['a@b.example'] })).body
      .mail.to,
  ).toEqual(['a@b.example']);
  expect(await tested(server, body.id)).toMatchObject({ status: 'DELIVERED' });
  for (const text of [JSON.stringify(body), await everything(server), server.logged.join('\n')]) {
    expect(text).not.toContain(password);
    expect(text).not.toContain('wr0ng-one');
  }
});

test('a rejected recipient does not prevent delivery to the others', async () => {
  const server = await notifyingServer();
  const mail = await startMailServer({
    secure: true,
    onRcptTo({ address }, _session, done) {
      done(address.startsWith('boss') ? new Error('no such user') : null);
    },
  });
  const { body } = await server.add(mailTo(mail.port));
  expect(await tested(server, body.id)).toMatchObject({
    status: 'DELIVERED',
    failure: 'The mail server rejected 1 of 2 recipients',
  });
});

test('an unresponsive mail server does not delay the others for long', async () => {
  const server = await notifyingServer();
  const mail = await startMailServer({ secure: true, onConnect: () => {} });
  const { body } = await server.add(mailTo(mail.port));
  expect(await tested(server, body.id).catch(() => undefined)).toBeUndefined();
  const [sent] = (await server.notifications('/deliveries')).body.data;
  await expect
    .poll(async () => (await delivery(server, sent.id)).failure, { timeout: 10_000, interval: 100 })
    .toBe('No response within 15 s');
}, 40_000);

test('invalid settings are rejected with the field and the fix', async () => {
  const server = await notifyingServer();
  const mail = mailTo(465);
  const cases: [body: unknown, status: number, message: RegExp][] = [
    [{ kind: 'pager', url: 'https://example.com' }, 400, /must be one of webhook, slack, email at "kind"/],
    [
      { kind: 'slack', url: 'https://hooks.example.com/x', types: ['run.failed'] },
      400,
      /not available for chat and email.* at "types/,
    ],
    [{ kind: 'slack', url: 'http://10.0.0.1/x' }, 422, /^url: 10\.0\.0\.1 is not a public Internet address/],
    [
      { ...mail, smtp: { ...mail.smtp, host: '169.254.169.254' } },
      422,
      /^smtp\.host: 169\.254\.169\.254 is not/,
    ],
    [
      { ...mail, smtp: { ...mail.smtp, host: '1.1.1.1', security: 'none' } },
      422,
      /^smtp\.host: .* only TLS for mail/,
    ],
    [{ ...mail, smtp: { ...mail.smtp, host: 'a b' } }, 400, /must be a host name .* at "smtp\.host"/],
    [{ ...mail, smtp: { ...mail.smtp, password: undefined } }, 400, /set both .* at "smtp\.password"/],
    [{ ...mail, smtp: { ...mail.smtp, port: 0 } }, 400, /smtp\.port/],
    [{ ...mail, from: 'x\r\nBcc: a@b.example' }, 400, /not a mail address .* at "from"/],
    [{ ...mail, to: [] }, 400, /to/],
    [{ ...mail, to: ['nobody'] }, 400, /not a mail address .* at "to/],
  ];
  for (const [body, status, message] of cases) {
    const answer = await server.add(body);
    expect([answer.status, answer.body.error]).toEqual([status, expect.stringMatching(message)]);
  }
  const { id } = (await server.add({ kind: 'slack', url: 'https://hooks.example.com/x' })).body;
  const patch = (body: unknown) => server.notifications(`/endpoints/${id}`, 'PATCH', body);
  expect(await patch({ to: ['a@b.example'] })).toMatchObject({
    status: 422,
    body: { error: expect.stringMatching(/^to: /) },
  });
  expect(await patch({ types: ['*'] })).toMatchObject({ status: 422 });
  expect(await server.notifications(`/endpoints/${id}/rotate-secret`, 'POST')).toMatchObject({
    status: 422,
    body: { error: 'Requests to a slack endpoint are not signed: update its url instead.' },
  });
  await patch({ enabled: false });
  expect((await server.notifications(`/endpoints/${id}/test`, 'POST')).status).toBe(409);
  expect((await server.notifications('/endpoints/endpoint_none/test', 'POST')).status).toBe(404);
});
