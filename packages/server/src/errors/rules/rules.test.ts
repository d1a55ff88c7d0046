import { describe, expect, test } from 'vitest';
import { sharedServer, type SharedServer } from '../../../../../test/support/shared-server.ts';

const path = (server: SharedServer) => `/api/v1/projects/${server.projectRef}/error-rules`;
const create = (server: SharedServer, body: unknown, key?: string) =>
  server.ask(path(server), { method: 'POST', body, ...(key !== undefined && { key }) });
const keysOf = async (server: SharedServer) =>
  ((await server.ask(path(server))).body.data as { groupKey: string }[]).map((rule) => rule.groupKey);

describe('rules of a project', () => {
  test('are added, evaluated in order, changed and deleted, each with its actor in the audit log', async () => {
    const server = await sharedServer();
    const first = await create(server, { message: 'connect *', groupKey: 'network' });
    expect(first).toMatchObject({
      status: 200,
      body: {
        id: expect.stringMatching(/^rule_/),
        position: 1,
        task: null,
        type: null,
        message: 'connect *',
        groupKey: 'network',
      },
    });
    await create(server, { type: 'Timeout*', groupKey: 'slow' }, server.personalAccessToken);
    await create(server, { task: 'mail', groupKey: 'mail', position: 1 });
    expect(await keysOf(server)).toEqual(['mail', 'network', 'slow']);

    const url = `${path(server)}/${first.body.id}`;
    const moved = await server.ask(url, { method: 'PATCH', body: { position: 3, task: 'a*' } });
    expect(moved.body).toMatchObject({ position: 3, task: 'a*', message: 'connect *' });
    expect(await keysOf(server)).toEqual(['mail', 'slow', 'network']);
    expect(await server.ask(url, { method: 'DELETE' })).toMatchObject({
      status: 200,
      body: { success: true },
    });
    expect((await server.ask(url, { method: 'DELETE' })).status).toBe(404);
    expect(await keysOf(server)).toEqual(['mail', 'slow']);

    const { body: orgs } = await server.ask('/api/v1/orgs', { key: server.personalAccessToken });
    const { body } = await server.ask(`/api/v1/orgs/${orgs[0].id}/audit`, {
      key: server.personalAccessToken,
    });
    const acts = (body.data as { act: string; actor: { kind: string } }[]).filter(({ act }) =>
      act.startsWith('errorRule.'),
    );
    expect(acts.toReversed().map(({ act, actor }) => [act, actor.kind])).toEqual([
      ['errorRule.created', 'secretKey'],
      ['errorRule.created', 'user'],
      ['errorRule.created', 'secretKey'],
      ['errorRule.updated', 'secretKey'],
      ['errorRule.deleted', 'secretKey'],
    ]);
  });

  test('are rejected by name if they are invalid', async () => {
    const server = await sharedServer();
    for (const [body, what] of [
      [{ groupKey: 'x' }, /a rule needs a pattern/],
      [{ message: 'x' }, /groupKey/],
      [{ message: '', groupKey: 'x' }, /message/],
      [{ message: 'x'.repeat(513), groupKey: 'x' }, /message/],
      [{ message: 'a\u0000', groupKey: 'x' }, /message/],
      [{ message: '\ud800', groupKey: 'x' }, /message/],
      [{ message: 'x', groupKey: ' x' }, /groupKey/],
      [{ message: 'x', groupKey: 'x', position: 0 }, /position/],
      ['{', /Invalid JSON/],
      ['', /empty/],
    ] as const) {
      const { status, body: problem } = await create(server, body);
      expect([status, JSON.stringify(problem)]).toEqual([400, expect.stringMatching(what)]);
    }
    const { body: rule } = await create(server, { message: 'x', groupKey: 'x' });
    expect(
      await server.ask(`${path(server)}/${rule.id}`, { method: 'PATCH', body: { message: null } }),
    ).toMatchObject({ status: 422, body: { error: expect.stringMatching(/needs a pattern/) } });
    expect((await server.ask('/api/v1/projects/proj_other/error-rules')).status).toBe(400);
    expect(
      (await server.ask('/api/v1/projects/proj_other/error-rules', { key: server.personalAccessToken }))
        .status,
    ).toBe(404);
    await Promise.all(
      Array.from({ length: 99 }, (_, n) => create(server, { message: `${n}`, groupKey: `${n}` })),
    );
    expect((await create(server, { message: 'x', groupKey: 'x' })).status).toBe(422);
    expect(new Set(await keysOf(server)).size).toBe(100);
  });
});
