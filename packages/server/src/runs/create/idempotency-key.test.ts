import { expect, test } from 'vitest';
import { shownKey, storedKey, storedWaitKey } from './idempotency-key.ts';
import { retrieveRun } from '../retrieve/retrieve.ts';
import { testEngine } from '../testing/engine.ts';

const failed = {
  kind: 'failed',
  status: 'FAILED',
  error: { type: 'BUILT_IN_ERROR', name: 'Error', message: 'no', stackTrace: '' },
} as const;

test('no user key is stored in the format of a wait key', () => {
  for (const key of ['wait of x', '\u0001x', storedWaitKey('x'), 'x']) {
    expect(storedKey(key)).not.toBe(storedWaitKey('x'));
    expect(shownKey(storedKey(key))).toBe(storedKey(key));
  }
  expect(shownKey(storedWaitKey('x'))).toBeUndefined();
});

test('a wait key matches its run after any outcome, and is never shown; any other key becomes free again after a failure', async () => {
  const t = await testEngine();
  const version = await t.register('send');
  await t.addRunner('r1');
  const make = async (options: { waitKey?: string; idempotencyKey?: string }) => {
    const first = await t.trigger('send', options);
    await t.end((await t.claim('r1', [version.id], 1))[0]!, failed);
    const second = await t.trigger('send', options);
    const [again] = await t.claim('r1', [version.id], 1);
    if (again) await t.end(again);
    return {
      isSame: first.id === second.id,
      displayed: (await retrieveRun(t.engine, t.environment.id, second.id))?.idempotencyKey,
    };
  };
  expect(await make({ waitKey: 'run_p/1 send/1' })).toEqual({ isSame: true, displayed: undefined });
  const own = 'wait of run_p/1 send/1';
  expect(await make({ idempotencyKey: own })).toEqual({ isSame: false, displayed: own });
  expect(await make({ idempotencyKey: 'run_p/1 send/1' })).toMatchObject({ isSame: false });
  expect((await make({ idempotencyKey: '\u0001run_p/1 send/1' })).isSame).toBe(false);
});
