import { expect, onTestFinished, test } from 'vitest';
import { connect } from '../../packages/server/src/db/connect.ts';
import { startProject } from '../support/project.ts';
import { testServer } from '../support/server.ts';

/** A key that neither the server nor the runner knows as a secret. */
const key = `svc_prod_sk_${'aB3'.repeat(8)}`;
const token = `tr_pat_${'a1b2'.repeat(10)}`;

const tasks = `
import { logger, metadata, sessions, streams, tags, task } from '@millrace/sdk';
const env = { MILLRACE_SECRET_KEY: '${key}', OTHER: '${token}' };
export const says = task({ id: 'says', run: async () => {
  console.log(env);
  logger.info('with properties', env);
  metadata.set('env', env);
  await tags.add(['plain', 'key:${key}']);
  await streams.append('words', { env });
  await streams.append('words', '${key}');
  await sessions.start({ type: 'chat', externalId: 'talk', taskIdentifier: 'serves', triggerConfig: { basePayload: {} } });
  await sessions.open('talk').out.append({ env });
  await metadata.flush();
  return { env };
} });
export const serves = task({ id: 'serves', run: async () => undefined });
export const throws = task({ id: 'throws', retry: { maxAttempts: 1 }, run: async () => {
  throw new Error('refused with ' + JSON.stringify(env), { cause: new Error(env.OTHER) });
} });
export const triggers = task({ id: 'triggers', run: async () => (await serves.trigger({}, { tags: ['of ${key}'], metadata: env })).id });
`;

test(
  'text in the shape of a key is redacted everywhere that output of a run is stored',
  { timeout: 60_000 },
  async () => {
    const server = await testServer();
    const sql = connect(server.database, { name: 'test', max: 1 });
    onTestFinished(() => sql.end());
    await startProject(server, { 'tasks/all.ts': tasks });
    const run = async (task: string) => {
      const { id } = (await server.ask(`/api/v1/tasks/${task}/trigger`, { method: 'POST', body: {} })).body;
      // The test checks the content of the reply.
      // oxlint-disable-next-line typescript/no-explicit-any
      let retrieved: any;
      await expect
        .poll(async () => (retrieved = (await server.ask(`/api/v3/runs/${id}`)).body).isCompleted, {
          timeout: 20_000,
        })
        .toBe(true);
      return retrieved;
    };
    const hidden = { MILLRACE_SECRET_KEY: '<redacted>', OTHER: '<redacted>' };
    const ended = await run('says');
    expect(ended).toMatchObject({
      status: 'COMPLETED',
      output: { env: hidden },
      metadata: { env: hidden },
      tags: ['key:<redacted>', 'plain'],
    });
    const lines = (await server.ask(`/api/v1/runs/${ended.id}/logs`)).body;
    expect(JSON.stringify(lines)).toContain("MILLRACE_SECRET_KEY: '<redacted>'");
    const thrown = await run('throws');
    expect(thrown.error.message).toContain('refused with {"MILLRACE_SECRET_KEY":"<redacted>"');
    const triggered = await run('triggers');
    expect((await server.ask(`/api/v3/runs/${triggered.output}`)).body).toMatchObject({
      tags: ['of <redacted>'],
      metadata: hidden,
    });
    await expect
      .poll(async () => (await server.ask('/api/v1/errors')).body.data?.length, { timeout: 20_000 })
      .toBe(1);
    const records = (await server.ask('/realtime/v1/sessions/talk/out/records')).body;
    expect(JSON.stringify(records).match(/<redacted>/g)).toHaveLength(2);
    // Nor in any table of the database.
    const tables = await sql<{ name: string }[]>`
    select quote_ident(tablename) as name from pg_tables where schemaname = 'public'`;
    const leaking: string[] = [];
    for (const { name } of tables) {
      const rows = await sql.unsafe<{ row: string }[]>(`select t::text as row from ${name} t`);
      const text = rows.map(({ row }) => row).join('\n');
      const inHex = Buffer.from('aB3aB3aB3').toString('hex');
      if (/aB3aB3aB3|a1b2a1b2/.test(text) || text.includes(inHex)) leaking.push(name);
    }
    expect(leaking).toEqual([]);
    expect(server.logged.join('\n')).not.toMatch(/aB3aB3|a1b2a1b2/);
  },
);
