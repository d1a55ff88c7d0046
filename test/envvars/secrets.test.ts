import { rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startReceiver } from '../../packages/server/src/notifications/testing/receiver.ts';
import { encodingsOf } from '../../packages/server/src/envvars/redact/encodings.ts';
import { dump, startVariableServer } from '../../packages/server/src/envvars/testing/variable-server.ts';
import { runProject } from './runner.ts';

/** Contains characters that each encoding escapes in its own way. */
const sentinel = 'Sentinel-7f3a/Ünï+"quoted"\\back ?&=é';
const old = 'Sentinel-of-before-91c2';

const leak = `
import { AbortTaskRunError, logger, metadata as own, streams, task, tasks } from '@millrace/sdk';
const secret = () => process.env.SENTINEL!;
const base64 = (text: string) => Buffer.from(text).toString('base64');
const url = () => 'https://api.test/?' + new URLSearchParams({ key: secret() }) + encodeURIComponent(secret());

class Refused extends Error {
  override name = 'Refused ' + secret();
  code = secret();
}

export const throws = task({ id: 'throws', retry: { maxAttempts: 2, minTimeoutInMs: 1, maxTimeoutInMs: 1, randomize: false }, run: async () => {
  throw new Refused('no access with ' + secret() + ' nor ' + base64('user:' + secret()), { cause: new Error(url()) });
} });
export const throwsText = task({ id: 'throws-text', run: async () => {
  throw new AbortTaskRunError(JSON.stringify({ secret: secret() }));
} });
export const logs = task({ id: 'logs', run: async () => {
  console.log(secret());
  console.log({ secret: secret(), list: [base64(secret())] });
  console.error(new Error(secret()));
  logger.info('with ' + secret(), { secret: secret(), nested: { [secret()]: url() } });
  console.log('x'.repeat(70_000) + secret());
} });
export const returns = task({ id: 'returns', run: async () => ({
  secret: secret(), base64: base64(secret()), url: url(), json: JSON.stringify({ s: secret() }), [secret()]: new Date(0),
}) });
export const returnsText = task({ id: 'returns-text', run: async () => secret() });
export const metadata = task({ id: 'metadata', run: async () => {
  const { id } = await tasks.trigger('returns-text', {}, { metadata: { secret: secret(), url: url() } });
  own.set('set', secret());
  own.append('list', url());
  return { child: id };
} });
export const writes = task({ id: 'writes', run: async () => {
  await streams.append('one', 'with ' + secret());
  await streams.append('one', { [secret()]: [base64(secret()), url()] });
} });
export const dies = task({ id: 'dies', isolated: true, retry: { maxAttempts: 1 }, run: async () => {
  process.stderr.write('last words: ' + secret() + '\\n');
  await new Promise((resolve) => setTimeout(resolve, 50));
  process.exit(3);
} });
`;

/** A target of OpenTelemetry exports. OTLP is protobuf or JSON: texts are readable in both. */
async function startCollector() {
  const spans: string[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      spans.push(Buffer.concat(chunks).toString('utf8'));
      response.end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  vi.stubEnv('OTEL_BSP_SCHEDULE_DELAY', '50');
  onTestFinished(() => void vi.unstubAllEnvs());
  return { text: () => spans.join('\n') };
}

test(
  'a secret that runs throw, log, return, encode and store in metadata is found nowhere',
  { timeout: 60_000 },
  async () => {
    const collector = await startCollector();
    const receiver = await startReceiver();
    const served = await startVariableServer({ notificationNetworks: ['127.0.0.0/8'] });
    const { call, sql, logged } = served;
    const endpoint = await call('POST', 'notifications/prod/endpoints', {
      as: served.pat,
      body: { url: `${receiver.url}/hook`, types: ['*'] },
    });
    expect(endpoint.status).toBe(200);
    const set = (value: string) =>
      call('POST', 'envvars/prod', { body: { name: 'SENTINEL', value, isSecret: true } });
    await set(old);
    await set(sentinel);
    const project = await runProject(served, { 'tasks/leak.ts': leak });

    const names = ['throws', 'throws-text', 'logs', 'returns', 'returns-text', 'metadata', 'dies', 'writes'];
    const runs = await Promise.all(names.map((name) => project.outcome(name)));
    const statuses = Object.fromEntries(names.map((name, at) => [name, runs[at]?.status]));
    expect(statuses).toEqual({
      throws: 'FAILED',
      'throws-text': 'FAILED',
      logs: 'COMPLETED',
      returns: 'COMPLETED',
      'returns-text': 'COMPLETED',
      metadata: 'COMPLETED',
      dies: 'CRASHED',
      writes: 'COMPLETED',
    });
    const output = runs[5]?.output as { child: string } | undefined;
    runs.push(await project.over(output?.child ?? ''));
    // Log lines of a run are not stored in the same write as its end.
    await expect.poll(async () => (await sql`select from run_logs`).length).toBeGreaterThanOrEqual(5);

    const replies: unknown[] = [...runs];
    const paths = runs.map(({ id }) => `/api/v1/runs/${id}/logs`);
    const groups = (await call('GET', '/api/v1/errors')).body as { data: { id: string }[] };
    expect(groups.data).toHaveLength(3);
    for (const { id } of groups.data) paths.push(`/api/v1/errors/${id}`);
    for (const path of [...paths, 'envvars/prod', 'envvars/prod/SENTINEL', 'envvar-revisions/prod'])
      replies.push((await call('GET', path)).body);
    replies.push(groups, (await call('GET', 'envvar-revisions/prod/diff?from=1')).body);
    replies.push((await call('PUT', 'envvars/prod/SENTINEL', { body: `{"value":"${sentinel}` })).body);
    replies.push(
      (await call('POST', 'envvars/prod/import', { body: { variables: { SENTINEL: sentinel } } })).body,
    );

    // Webhooks and traces are sent independently of the changes that they report.
    await expect
      .poll(receiver.types, { timeout: 20_000 })
      .toEqual(expect.arrayContaining(['error.new', 'run.failed']));
    await expect.poll(() => collector.text(), { timeout: 20_000 }).toContain('run throws');
    for (const path of ['notifications/prod/deliveries']) {
      replies.push((await call('GET', path, { as: served.pat })).body);
    }
    const [organization] = await sql<{ id: string }[]>`select id from organizations`;
    const audit = await call('GET', `/api/v1/orgs/${organization?.id}/audit`, { as: served.pat });
    expect(audit.body).toMatchObject({
      data: expect.arrayContaining([
        expect.objectContaining({
          act: 'variables.changed',
          new: { by: 'set', revision: 2, count: 1, changed: ['SENTINEL'] },
        }),
      ]) as unknown,
    });
    replies.push(audit.body);
    expect(receiver.received.some(({ text }) => text.includes('<redacted>'))).toBe(true);
    expect(collector.text()).toContain('<redacted>');

    const everything = {
      webhooks: JSON.stringify(receiver.received.map(({ text, headers, path }) => ({ text, headers, path }))),
      traces: collector.text(),
      database: await dump(sql),
      log: logged.join('\n'),
      replies: JSON.stringify(replies),
    };
    expect(everything.database.match(/<redacted>/g)?.length).toBeGreaterThan(15);
    expect(everything.replies.match(/<redacted>/g)?.length).toBeGreaterThan(15);
    const spellings = [...encodingsOf(sentinel), ...encodingsOf(old)];
    const hexes = [sentinel, old].map((value) => Buffer.from(value).toString('hex'));
    expect(spellings.length).toBeGreaterThan(15);
    for (const [place, text] of Object.entries(everything)) {
      for (const spelling of [...spellings, ...hexes]) {
        expect({ place, found: text.includes(spelling) ? spelling : null }).toEqual({ place, found: null });
      }
      // Not even a part of it that no encoding changes.
      expect(text).not.toContain('Sentinel-7f3a');
    }
    // Runs have the real value.
    expect(((await call('GET', 'envvars')).body as { variables: object }).variables).toEqual({
      SENTINEL: sentinel,
    });
  },
);

test('a change reaches new runs immediately; active runs keep their variables, and each run shows its revision', async () => {
  const served = await startVariableServer();
  const set = async (value: string) =>
    expect((await served.call('POST', 'envvars/prod', { body: { name: 'COLOUR', value } })).status).toBe(200);
  const project = await runProject(served, {
    'tasks/tell.ts': `
import { task } from '@millrace/sdk';
import { existsSync } from 'node:fs';
export const tell = task({ id: 'tell', run: async ({ waitFor }: { waitFor?: string }) => {
  while (waitFor && !existsSync(waitFor)) await new Promise((resolve) => setTimeout(resolve, 10));
  return process.env.COLOUR ?? 'none';
} });`,
  });
  expect(await project.outcome('tell')).toMatchObject({ output: 'none' });
  await set('red');
  expect(await project.outcome('tell')).toMatchObject({ output: 'red', variablesRevision: 1 });

  const signal = join(tmpdir(), `millrace-signal-${process.pid}-${Date.now()}`);
  const slow = await project.trigger('tell', { waitFor: signal });
  await expect
    .poll(async () => ((await served.call('GET', `/api/v3/runs/${slow}`)).body as { status: string }).status)
    .toBe('EXECUTING');
  await set('blue');
  const began = performance.now();
  expect(await project.outcome('tell')).toMatchObject({ output: 'blue', variablesRevision: 2 });
  expect(performance.now() - began).toBeLessThan(5_000);
  await writeFile(signal, '');
  expect(await project.over(slow)).toMatchObject({ output: 'red', variablesRevision: 1 });
  await rm(signal);
  await served.call('DELETE', 'envvars/prod/COLOUR');
  expect(await project.outcome('tell')).toMatchObject({ output: 'none', variablesRevision: 3 });
});
