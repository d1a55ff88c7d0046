import { expect, test } from 'vitest';
import { sharedServer, type SharedServer } from '../../../../../test/support/shared-server.ts';

const asMember = (server: SharedServer) => {
  const root = `/api/v1/projects/${server.projectRef}/model-prices`;
  const key = server.personalAccessToken;
  return {
    list: async () => (await server.ask(root, { key })).body,
    set: (body: unknown) => server.ask(root, { method: 'PUT', body, key }),
    remove: (model: string) => server.ask(`${root}/${encodeURIComponent(model)}`, { method: 'DELETE', key }),
  };
};

test('prices are set, replaced and deleted; default prices follow them', async () => {
  const member = asMember(await sharedServer());
  const price = { model: 'meta/llama-4*', input: '0.0375', output: '2', cachedInput: null, cacheWrite: null };
  expect(await member.set(price)).toMatchObject({ status: 200, body: { ...price, isDefault: false } });
  expect((await member.set({ ...price, cachedInput: '0.000001' })).body).toMatchObject({
    cachedInput: '0.000001',
  });
  const { data, defaultsFrom } = await member.list();
  expect(defaultsFrom).toMatch(/^\d{4}-\d\d$/);
  expect(data.filter(({ isDefault }: { isDefault: boolean }) => !isDefault)).toMatchObject([
    { model: price.model },
  ]);
  expect(data.length).toBeGreaterThan(10);
  expect(await member.remove(price.model)).toMatchObject({ status: 200, body: { model: price.model } });
  expect((await member.remove(price.model)).status).toBe(404);
});

test.each([
  [{ input: 1 }, /input/],
  [{ input: '-1' }, /input.*must be a decimal number/],
  [{ input: '1e3' }, /input/],
  [{ input: 'NaN' }, /input/],
  [{ output: '100000' }, /output.*below 100000/],
  [{ output: '0.0000001' }, /output.*at most 6 decimals/],
  [{ model: '' }, /model/],
  [{ model: 'a*b' }, /model.*only allowed at the end/],
  [{ model: ' a' }, /model.*space/],
  [{ model: 'x'.repeat(129) }, /model/],
] as const)('rejects the price %j', async (wrong, message) => {
  const member = asMember(await sharedServer());
  const { status, body } = await member.set({ model: 'm', input: '1', output: '1', ...wrong });
  expect([status, JSON.stringify(body)]).toEqual([400, expect.stringMatching(message)]);
});

test('usage is empty without calls, and impossible ranges are rejected', async () => {
  const server = await sharedServer();
  const { status, body } = await server.ask('/api/v1/models/usage?period=7d&by=tag');
  expect(status).toBe(200);
  expect(body).toMatchObject({ total: { calls: 0, cost: '0' }, groups: [], unpriced: [] });
  expect(body.days).toHaveLength(8);
  for (const [query, message] of [
    ['period=800d', /period: usage is retained for 730 days/],
    ['period=soon', /period/],
    ['from=2026-01-02&to=2026-01-01', /from: must be before/],
    ['by=color', /by/],
    ['limit=0', /limit/],
  ] as const) {
    const rejected = await server.ask(`/api/v1/models/usage?${query}`);
    expect([rejected.status, JSON.stringify(rejected.body)], query).toEqual([
      400,
      expect.stringMatching(message),
    ]);
  }
  expect((await server.ask('/api/v1/runs/run_none/models')).status).toBe(404);
});
