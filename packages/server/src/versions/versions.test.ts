import { expect, test } from 'vitest';
import { testEngine } from '../runs/testing/engine.ts';
import { cachedVersions } from './versions.ts';

test('a task of a version is read once for concurrent callers, and an archived version is soon detected', async () => {
  const t = await testEngine();
  const { id, version } = await t.register('send');
  const env = t.environment.id;
  const versions = cachedVersions(t.sql);

  const first = versions.declared(env, version, 'send');
  expect(versions.declared(env, version, 'send')).toBe(first);
  expect(versions.declared(env, version, 'other')).not.toBe(first);
  expect(await first).toMatchObject({ id, state: 'ready', manifest: { id: 'send' } });
  expect(await versions.declared(env, version, 'other')).toEqual({ id, state: 'ready', manifest: null });
  expect(await versions.declared(env, 'no such version', 'send')).toBeUndefined();

  await t.sql`update versions set state = 'archived' where id = ${id}`;
  await expect.poll(() => versions.declared(env, version, 'send')).toMatchObject({ state: 'archived' });
  await t.sql`update versions set state = 'ready' where id = ${id}`;
  versions.forget(env);
  expect(await versions.declared(env, version, 'send')).toMatchObject({ state: 'ready' });
});

test('a failed read is not cached', async () => {
  const t = await testEngine();
  const { version } = await t.register('send');
  const env = t.environment.id;
  const versions = cachedVersions(t.sql);
  await t.sql`alter table tasks rename to tasks_away`;
  await expect(versions.declared(env, version, 'send')).rejects.toThrow('relation "tasks" does not exist');
  await t.sql`alter table tasks_away rename to tasks`;
  expect(await versions.declared(env, version, 'send')).toMatchObject({ state: 'ready' });
});
