/** The permitted parents of a run. */
import { expect, test } from 'vitest';
import { installation } from '../access/installation.ts';

test('a caller creates children only of runs that it may write, and learns nothing about others', async () => {
  const { ask, keys, keyWith, sql } = await installation();
  const create = async (task: string, options = {}) =>
    (await ask(`POST /api/v1/tasks/${task}/trigger`, { key: keys.prod, body: { options } })).body
      .id as string;
  const [mine, other, tagged] = [
    await create('mine'),
    await create('other'),
    await create('other', { tags: 'ours' }),
  ];
  const scopes = ['trigger:tasks:mine', 'batchTrigger:tasks:mine'];
  const triggerOnly = await keyWith(scopes);
  const operator = await keyWith([...scopes, 'write:tasks:mine', 'write:tags:ours']);
  const forms = {
    single: (key: string, parentRunId: string) =>
      ask('POST /api/v1/tasks/mine/trigger', { key, body: { options: { parentRunId } } }),
    batch: (key: string, parentRunId: string) =>
      ask('POST /api/v3/batches', { key, body: { runCount: 1, taskIdentifiers: ['mine'], parentRunId } }),
    whole: (key: string, parentRunId: string) =>
      ask('POST /api/v2/tasks/batch', { key, body: { items: [{ task: 'mine' }], parentRunId } }),
  };
  for (const [form, send] of Object.entries(forms)) {
    const answer = async (key: string, parent: string) => {
      const { status, body } = await send(key, parent);
      return { form, parent, ok: status < 300, error: body.error };
    };
    const refused = (parent: string) => ({ form, parent, ok: false, error: 'Unauthorized' });
    for (const parent of [mine, other, tagged, 'run_unknown']) {
      expect(await answer(triggerOnly, parent)).toEqual(refused(parent));
    }
    // A tag scope permits reading a run, not changing it.
    for (const parent of [other, tagged, 'run_unknown'])
      expect(await answer(operator, parent)).toEqual(refused(parent));
    expect(await answer(operator, mine)).toMatchObject({ ok: true });
    expect(await answer(keys.prod, other)).toMatchObject({ ok: true });
    expect(await answer(keys.prod, 'run_unknown')).toMatchObject({
      ok: false,
      error: expect.stringMatching(/the run "run_unknown" does not exist/),
    });
  }
  const items = [mine, other, undefined].map((parentRunId) => ({ task: 'mine', options: { parentRunId } }));
  const { body } = await ask('POST /api/v1/tasks/trigger-many', { key: operator, body: { items } });
  expect(body.results).toMatchObject([{ isCached: false }, { status: 403 }, { isCached: false }]);
  const [row] = await sql`select count(*)::int as count from runs where parent_id is null and task = 'mine'`;
  expect(row).toEqual({ count: 2 });
});
