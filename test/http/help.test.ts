/** Every error response names in `x-millrace-help` the section of docs/troubleshooting.md that explains it. */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect as connectHttp2 } from 'node:http2';
import { join } from 'node:path';
import { operations, type OperationDeclaration } from '@millrace/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { slugOf } from '../../docs/.vitepress/slug.ts';
import { repository } from '../cli/command.ts';
import { startTestServer, testServer, type AskOptions, type TestServer } from '../support/server.ts';

const ends: (() => Promise<void>)[] = [];
let server: TestServer;
let sections: ReadonlySet<string>;
beforeAll(async () => {
  const page = await readFile(join(repository, 'docs/troubleshooting.md'), 'utf8');
  sections = new Set([...page.matchAll(/^## (.*)$/gm)].map(([, title = '']) => slugOf(title)));
  // Only here does one program send so many wrong credentials.
  server = await startTestServer((end) => void ends.push(end), { rateLimits: {} });
});
afterAll(async () => {
  for (const end of ends) await end();
});

/** The section in the header, if the page has it. */
function sectionIn(help: string | null | undefined): string {
  const [, anchor = ''] = /^docs\/troubleshooting\.md#([\w-]+)$/.exec(help ?? '') ?? [];
  return sections.has(anchor) ? anchor : `${help} is not a section`;
}

async function failure(path: string, options: AskOptions = {}, at = server): Promise<[number, string]> {
  const { status, headers } = await at.ask(path, options);
  return [status, sectionIn(headers.get('x-millrace-help'))];
}

const trigger = '/api/v1/tasks/send/trigger';
const post = (body: unknown, more: AskOptions = {}): AskOptions => ({ method: 'POST', body, ...more });

test('each kind of failure links to the section of its message', async () => {
  const { keys, personalAccessToken: token } = server;
  expect(await failure('/api/v1/runs', { key: '' })).toEqual([401, 'missing-credential']);
  expect(await failure('/api/v1/runs', { key: `${keys.prod}x` })).toEqual([401, 'invalid-credential']);
  expect(await failure('/api/v1/runs', { key: 'svc_pat_nobody' })).toEqual([401, 'invalid-credential']);
  expect(await failure('/api/v1/orgs')).toEqual([401, 'wrong-type-of-credential']);
  expect(await failure(trigger, post({}, { key: token }))).toEqual([401, 'wrong-type-of-credential']);
  expect(await failure('/api/v1/runs', { key: keys.preview })).toEqual([401, 'missing-or-unknown-branch']);
  const branch = { 'x-service-branch': 'feat/none' };
  expect(await failure('/api/v1/runs', { key: keys.preview, headers: branch })).toEqual([
    401,
    'missing-or-unknown-branch',
  ]);
  expect(await failure('/api/v1/projects/proj_other/envvars/prod')).toEqual([
    400,
    'key-of-another-environment',
  ]);
  expect(await failure(trigger, post('{"payload":'))).toEqual([400, 'malformed-request']);
  expect(await failure(trigger, post(''))).toEqual([400, 'malformed-request']);
  const zipped = { 'content-encoding': 'gzip' };
  expect(await failure(trigger, post({}, { headers: zipped }))).toEqual([415, 'malformed-request']);
  expect(await failure(trigger, post({ options: { maxAttempts: 'three' } }))).toEqual([400, 'invalid-value']);
  expect(await failure(trigger, post({ options: { delay: 'soon' } }))).toEqual([400, 'invalid-value']);
  expect(await failure('/api/v1/runs?page[size]=many')).toEqual([400, 'invalid-value']);
  const manyTags = Array.from({ length: 11 }, (_, n) => `t${n}`);
  expect(await failure(trigger, post({ options: { tags: manyTags } }))).toEqual([422, 'invalid-value']);
  expect(await failure(trigger, post({ options: { lockToVersion: '20200101.1' } }))).toEqual([
    422,
    'no-version-has-the-task',
  ]);
  expect(await failure(trigger, post({ payload: 'x'.repeat(3_145_728) }))).toEqual([
    413,
    'request-body-too-large',
  ]);
  expect(await failure('/api/v3/runs/run_unknown')).toEqual([404, 'not-found']);
  expect(await failure('/api/v1/nothing')).toEqual([404, 'not-found']);
  expect(await failure('/assets/nothing.js')).toEqual([404, 'not-found']);
  expect(await failure('/packets/v1/nothing')).toEqual([403, 'signed-url-rejected']);
  expect(await failure(trigger)).toEqual([405, 'not-found']);
  expect(await failure('/api/v1/%zz')).toEqual([400, 'malformed-request']);
  const forwarded = { 'x-forwarded-for': '192.0.2.1' };
  expect(await failure('/metrics', { headers: forwarded })).toEqual([403, 'access-to-metrics-denied']);
  expect(await failure('/s2/v1/streams/eA/records', post({}))).toEqual([403, 'missing-permission']);
  expect(await failure('/s2/v1/streams/eA/records', post({}, { key: '' }))).toEqual([
    401,
    'missing-credential',
  ]);

  const { id } = (await server.ask(trigger, post({}))).body as { id: string };
  expect(await failure(`/api/v1/runs/${id}/reschedule`, post({ delay: '1h' }))).toEqual([
    422,
    'conflict-with-the-current-state',
  ]);
  const { body: weak } = await server.ask(
    `/api/v1/projects/${server.projectRef}/prod/keys`,
    post({ name: 'weak', preset: 'trigger-only' }, { key: token }),
  );
  expect(await failure(`/api/v2/runs/${id}/cancel`, post({}, { key: weak.key }))).toEqual([
    403,
    'missing-permission',
  ]);
  // The body is unchanged.
  expect((await server.ask('/api/v1/nothing')).body).toEqual({ error: 'Not found' });
});

test('a success has no such header', async () => {
  expect((await server.ask('/api/v1/runs')).headers.get('x-millrace-help')).toBeNull();
  expect((await server.ask('/healthz')).headers.get('x-millrace-help')).toBeNull();
});

test('every operation has it for every failure', { timeout: 60_000 }, async () => {
  const missing: string[] = [];
  let count = 0;
  for (const { id, method, path, access, streams } of Object.values(
    operations,
  ) as readonly OperationDeclaration[]) {
    const address = path.replaceAll(/:\w+/g, 'odd');
    for (const key of access.open ? [server.keys.prod] : ['', 'svc_prod_sk_nobody', server.keys.prod]) {
      const isValid = key === server.keys.prod;
      // These would respond for as long as the test lasts.
      if (isValid && streams) continue;
      const response = await fetch(server.url + address, {
        method,
        headers: {
          ...(key !== '' && { authorization: `Bearer ${key}` }),
          'content-type': 'application/json',
        },
        ...(method !== 'GET' && method !== 'HEAD' && { body: '{"odd":' }),
      });
      await response.arrayBuffer();
      if (response.ok) continue;
      count += 1;
      const section = sectionIn(response.headers.get('x-millrace-help'));
      if (!sections.has(section)) missing.push(`${id}: ${response.status} ${section}`);
    }
  }
  expect(missing).toEqual([]);
  expect(count).toBeGreaterThan(300);
});

test('browsers can read it', async () => {
  const { headers } = await server.ask('/api/v3/runs/run_unknown', {
    headers: { origin: 'https://a.example' },
  });
  expect(headers.get('access-control-expose-headers')?.split(', ')).toContain('x-millrace-help');
});

test('rejected runners and append sessions have it too', async () => {
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}/runner/v1/connect`, {
    headers: { authorization: 'Bearer svc_prod_sk_nobody' },
  });
  socket.on('error', () => {});
  const [, response] = (await once(socket, 'unexpected-response')) as [
    unknown,
    { statusCode: number; headers: Record<string, string> },
  ];
  socket.terminate();
  expect([response.statusCode, sectionIn(response.headers['x-millrace-help'])]).toEqual([
    401,
    'invalid-credential',
  ]);

  const session = connectHttp2(server.url);
  const stream = session.request({ ':method': 'POST', ':path': '/s2/v1/streams/eA/records' });
  const [headers] = (await once(stream, 'response')) as [Record<string, string>];
  session.destroy();
  expect([headers[':status'], sectionIn(headers['x-millrace-help'])]).toEqual([401, 'missing-credential']);
});

test('limits link to their sections', async () => {
  const single = { burst: 1, perSecond: 0.001 };
  const limited = await testServer({ rateLimits: { secretKey: single, badCredentials: single } });
  const asking = (key: string) => failure('/api/v1/runs', { key }, limited);
  expect(await asking('nobody')).toEqual([401, 'invalid-credential']);
  expect(await asking('nobody')).toEqual([429, 'too-many-invalid-credentials']);
  await limited.ask('/api/v1/runs');
  expect(await asking(limited.keys.prod)).toEqual([429, 'too-many-requests']);
});
