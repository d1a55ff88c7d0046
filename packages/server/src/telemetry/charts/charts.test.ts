import { expect, test } from 'vitest';
import { sharedServer, type SharedServer } from '../../../../../test/support/shared-server.ts';

const asMember = (server: SharedServer) => {
  const root = `/api/v1/projects/${server.projectRef}/charts/prod`;
  const key = server.personalAccessToken;
  return {
    list: async () => (await server.ask(root, { key })).body.data as { id: string; name: string }[],
    create: (body: unknown) => server.ask(root, { method: 'POST', body, key }),
    update: (id: string, body: unknown) => server.ask(`${root}/${id}`, { method: 'PATCH', body, key }),
    remove: (id: string) => server.ask(`${root}/${id}`, { method: 'DELETE', key }),
    async acts() {
      const { body: orgs } = await server.ask('/api/v1/orgs', { key });
      const { body } = await server.ask(`/api/v1/orgs/${orgs[0].id}/audit`, { key });
      return (body.data as { act: string }[]).map(({ act }) => act).toReversed();
    },
  };
};
const chart = { name: 'Failures', measure: 'failureRate', period: '7d', form: 'line' };

test('charts are saved, changed and deleted, each with its entry in the audit log', async () => {
  const member = asMember(await sharedServer());
  const { status, body } = await member.create({ ...chart, by: 'task', isPinned: true });
  expect([status, body]).toEqual([
    200,
    {
      ...chart,
      id: expect.stringMatching(/^chart_/),
      by: 'task',
      task: null,
      queue: null,
      version: null,
      isPinned: true,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    },
  ]);
  expect(await member.list()).toEqual([body]);
  const changed = await member.update(body.id, { by: null, task: 'mail', isPinned: false });
  expect(changed.body).toMatchObject({ name: 'Failures', by: null, task: 'mail', isPinned: false });
  expect((await member.remove(body.id)).body).toEqual({ id: body.id });
  expect((await member.remove(body.id)).status).toBe(404);
  expect((await member.update(body.id, { name: 'x' })).status).toBe(404);
  expect(await member.list()).toEqual([]);
  expect((await member.acts()).filter((act) => act.startsWith('chart.'))).toEqual([
    'chart.created',
    'chart.updated',
    'chart.deleted',
  ]);
});

test.each([
  [{ measure: 'profit' }, 400, /measure/],
  [{ form: 'pie' }, 400, /form/],
  [{ name: ' ' }, 400, /name/],
  [{ name: 'x\uD800' }, 400, /unpaired surrogate/],
  [{ period: 'soon' }, 400, /period.*must be a period from 1m to 730d/],
  [{ period: '731d' }, 400, /period/],
  [{ task: 'a\0' }, 400, /NUL/],
  [{ task: 'a', queue: 'b' }, 422, /task and queue: use at most one/],
  [{ task: 'a', by: 'version' }, 422, /by: cannot be combined with task/],
  [{ by: 'status' }, 422, /by: only the measure `runs`/],
  [{ by: 'task', form: 'number' }, 422, /form: a number has one series/],
] as const)('rejects %j with the field and the reason', async (wrong, status, message) => {
  const member = asMember(await sharedServer());
  const rejected = await member.create({ ...chart, ...wrong });
  expect([rejected.status, JSON.stringify(rejected.body)]).toEqual([status, expect.stringMatching(message)]);
  if (status === 400) return;
  const { body } = await member.create(chart);
  expect((await member.update(body.id, wrong)).status).toBe(status);
});

test('an environment has a maximum number of charts', async () => {
  const member = asMember(await sharedServer());
  const all = await Promise.all(Array.from({ length: 103 }, () => member.create(chart)));
  expect(all.filter(({ status }) => status === 200)).toHaveLength(100);
  expect(all.find(({ status }) => status === 422)?.body.error).toMatch(/at most 100 charts/);
});
