import { listErrors } from '@millrace/contract';
import { expect, test } from 'vitest';
import type { Principal } from '../../auth/principal.ts';
import { testEngine } from '../../runs/testing/engine.ts';
import { listErrorGroups } from './list.ts';
import { retrieveErrorGroup } from './retrieve.ts';
import { shownTo } from './redact.ts';

test('a group shows the message of one of its errors to callers with access to its run', async () => {
  const t = await testEngine();
  const { environment, sql, engine } = t;
  const { id: version } = await t.register('refund');
  await t.addRunner('r');
  for (const amount of [1_200, 40]) {
    const message = `A refund of ${amount} exceeds the 900 that were captured for ${'x'.repeat(600)}`;
    await t.trigger('refund');
    const [attempt] = await t.claim('r', [version], 1);
    const error = { type: 'BUILT_IN_ERROR', name: 'RangeError', message, stackTrace: '' } as const;
    await t.end(attempt!, { kind: 'failed', status: 'FAILED', error });
  }
  const now = new Date(engine.clock.now());
  const { data } = await listErrorGroups(sql, {
    env: environment.id,
    query: listErrors.query.parse({}),
    now,
  });
  const [group] = data;
  if (!group) throw new Error('group not found');
  const sample = `A refund of 1200 exceeds the 900 that were captured for ${'x'.repeat(600)}`.slice(0, 500);
  expect(group).toMatchObject({ count: 2, sampleMessage: sample });
  expect(group.errorMessage).toContain('A refund of <n>');
  expect(await retrieveErrorGroup(sql, environment.id, group.id, now)).toMatchObject({
    sampleMessage: sample,
  });

  const caller = (...scopes: string[]): Principal => ({
    kind: 'secretKey',
    credentialId: 'key_1',
    environment,
    scopes,
  });
  expect(shownTo(caller('admin'), group)).toEqual(group);
  expect(shownTo(caller('read:errors', 'read:runs'), group)).toEqual(group);
  for (const scopes of [
    ['read:errors'],
    ['read:errors', 'read:runs:run_1'],
    ['write:errors', 'read:tasks'],
  ]) {
    const response = shownTo(caller(...scopes), group);
    expect(response).not.toHaveProperty('sampleMessage');
    expect({ ...response, sampleMessage: sample }).toEqual(group);
  }
});
