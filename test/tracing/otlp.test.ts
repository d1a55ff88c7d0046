import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { testDatabase } from '../support/database.ts';
import { startProject } from '../support/project.ts';
import { testServer } from '../support/server.ts';
import { startCollector } from './collector.ts';

const tasks = `
import { createRequire } from 'node:module';
import { registerInstrumentations } from '@opentelemetry/instrumentation';
import { PgInstrumentation } from '@opentelemetry/instrumentation-pg';
import { logger, task, trace } from '@millrace/sdk';
registerInstrumentations({ instrumentations: [new PgInstrumentation()] });
// Required after the instrumentation; an import would come before it.
const { Client } = createRequire(import.meta.url)('pg');
export const child = task({ id: 'child', run: async () => trace('in the child', () => 1) });
export const query = task({ id: 'query', run: async ({ database }: { database: any }) => {
  const { username: user, ...rest } = database;
  const client = new Client(typeof database === 'string' ? { connectionString: database } : { user, ...rest });
  await client.connect();
  await trace('load customers', async (span) => {
    span.setAttribute('password', process.env.PASSWORD ?? '');
    await client.query('select 41 + 1 as answer');
    logger.info('loaded', { customers: 1 });
    await child.triggerAndWait({});
  });
  await client.end();
} });
`;

test('a query through pg is a span below its attempt, in the trace of the triggering caller', async () => {
  const { spans, lines } = await startCollector();
  const secret = `geheim-${randomBytes(8).toString('hex')}`;
  const { connection, drop } = await testDatabase();
  const server = await testServer();
  const { ask, projectRef, personalAccessToken } = server;
  const variable = { name: 'PASSWORD', value: secret, isSecret: true };
  const created = await ask(`/api/v1/projects/${projectRef}/envvars/prod`, {
    method: 'POST',
    key: personalAccessToken,
    headers: { 'content-type': 'application/json' },
    body: variable,
  });
  expect(created.status).toBe(200);
  await startProject(server, { 'tasks/all.ts': tasks }, [
    'pg',
    '@opentelemetry/api',
    '@opentelemetry/instrumentation',
    '@opentelemetry/instrumentation-pg',
  ]);
  const caller = { trace: randomBytes(16).toString('hex'), span: randomBytes(8).toString('hex') };
  const triggered = await ask('/api/v1/tasks/query/trigger', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      traceparent: `00-${caller.trace}-${caller.span}-01`,
    },
    body: { payload: { database: connection } },
  });
  const run = triggered.body.id as string;
  await expect
    .poll(
      async () => {
        const { status, error } = (await ask(`/api/v3/runs/${run}`)).body;
        return { status, error };
      },
      { timeout: 30_000 },
    )
    .toEqual({ status: 'COMPLETED' });

  const ofTrace = () => spans.filter(({ traceId }) => traceId === caller.trace);
  await expect
    .poll(() => ofTrace().map(({ name }) => name), { timeout: 10_000 })
    .toEqual(expect.arrayContaining(['run query', 'load customers', 'run child', 'in the child']));
  const named = (name: string | RegExp) => {
    const found = ofTrace().find((span) =>
      typeof name === 'string' ? span.name === name : name.test(span.name),
    );
    if (!found)
      throw new Error(
        `no span ${String(name)} among ${ofTrace()
          .map((span) => span.name)
          .join()}`,
      );
    return found;
  };
  expect(named('run query').parentSpanId).toBe(caller.span);
  expect(named('attempt query').parentSpanId).toBe(named('run query').spanId);
  expect(named('load customers').parentSpanId).toBe(named('attempt query').spanId);
  const sql = named(/^pg\.query:SELECT/);
  expect(sql.parentSpanId).toBe(named('load customers').spanId);
  expect(JSON.stringify(sql.attributes)).toContain('select 41 + 1');
  // The trace continues in runs that the task triggers.
  expect(named('run child').parentSpanId).toBe(named('load customers').spanId);
  expect(named('in the child').parentSpanId).toBe(named('attempt child').spanId);
  expect(BigInt(sql.endTimeUnixNano) >= BigInt(sql.startTimeUnixNano)).toBe(true);
  await expect.poll(() => lines.map(({ body }) => body.stringValue), { timeout: 10_000 }).toContain('loaded');
  expect(lines.find(({ body }) => body.stringValue === 'loaded')).toMatchObject({
    traceId: caller.trace,
    spanId: named('attempt query').spanId,
    severityText: 'info',
  });

  // The same spans are stored with the run.
  const stored = await ask(`/api/v1/runs/${run}/spans`);
  expect(stored.status).toBe(200);
  const storedNames = (stored.body.spans as { name: string }[]).map(({ name }) => name);
  expect(storedNames).toEqual(expect.arrayContaining([sql.name, 'load customers']));
  expect(JSON.stringify([stored.body, spans])).not.toContain(secret);
  await drop();
});
