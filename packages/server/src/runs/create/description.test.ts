import { expect, test } from 'vitest';
import { retrieveRun } from '../retrieve/retrieve.ts';
import { testEngine } from '../testing/engine.ts';
import { insertRuns } from './insert.ts';
import { prepareReplay } from './replay.ts';

test('a description is shown with its run and copied to replays; nothing is shown without one', async () => {
  const t = await testEngine();
  await t.register('send');
  const retrieved = (id: string) => retrieveRun(t.engine, t.environment.id, id);
  const { id } = await t.trigger('send', {
    description: 'Invoice 7 of "Ärger & Söhne"',
    tags: ['a "b" \\c'],
  });
  expect(await retrieved(id)).toMatchObject({
    description: 'Invoice 7 of "Ärger & Söhne"',
    tags: ['a "b" \\c'],
  });
  const replay = await prepareReplay(t.engine, t.environment, id);
  await insertRuns(t.engine, [replay!]);
  expect(await retrieved(replay!.id)).toMatchObject({ description: 'Invoice 7 of "Ärger & Söhne"' });
  const plain = await t.trigger('send');
  expect(JSON.stringify(await retrieved(plain.id))).not.toContain('description');
});

test('a debounced run in trailing mode has the description of its latest trigger', async () => {
  const t = await testEngine();
  await t.register('send');
  const debounce = { key: 'k', delay: '10s', mode: 'trailing' } as const;
  const { id } = await t.trigger('send', { debounce, description: 'first', tags: ['one'] });
  expect(await t.trigger('send', { debounce, description: 'second' })).toMatchObject({ id });
  const run = await retrieveRun(t.engine, t.environment.id, id);
  expect(run).toMatchObject({ description: 'second', tags: [] });
});
