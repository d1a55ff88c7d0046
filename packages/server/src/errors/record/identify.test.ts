import type { SerializedError } from '@millrace/contract/runner';
import { listErrors, listRuns as listRunsOperation } from '@millrace/contract';
import { describe, expect, test } from 'vitest';
import { listRuns } from '../../runs/list/list.ts';
import { retrieveRun } from '../../runs/retrieve/retrieve.ts';
import { testEngine, type TestEngine } from '../../runs/testing/engine.ts';
import { introduce } from './cached-fingerprints.ts';
import { listErrorGroups } from '../list/list.ts';
import { mergeErrorGroups } from '../merge/merge.ts';
import { prepareFailure } from './prepare.ts';
import { previewRule } from '../rules/preview.ts';
import { secretKey } from '../testing/failures.ts';

const thrown = (message: string, more: Partial<SerializedError> = {}): SerializedError => ({
  type: 'BUILT_IN_ERROR',
  name: 'Error',
  message,
  stackTrace: '',
  ...more,
});

interface Failing {
  readonly t: TestEngine;
  /** Makes runs fail with these errors, one by one; returns their ids. */
  fail(...errors: SerializedError[]): Promise<string[]>;
  rule(fields: { task?: string; type?: string; message?: string; groupKey: string }): Promise<void>;
  groups(): Promise<{ id: string; fingerprint: string; errorMessage: string; count: number }[]>;
}

async function failing(fingerprint?: string): Promise<Failing> {
  const t = await testEngine();
  const version = await t.register({ id: 'test', fingerprint });
  await t.addRunner('r1');
  const env = t.environment.id;
  let rules = 0;
  return {
    t,
    async fail(...errors) {
      const ids: string[] = [];
      for (const error of errors) {
        const { id } = await t.trigger('test');
        const [attempt] = await t.claim('r1', [version.id], 1);
        const settled = await t.end(attempt!, { kind: 'failed', status: 'FAILED', error });
        expect(settled).toEqual({ stale: false, kind: 'FAILED' });
        ids.push(id);
      }
      return ids;
    },
    async rule({ task = null, type = null, message = null, groupKey }) {
      await t.sql`
        insert into error_rules (id, project_id, position, task, type, message, group_key, created_at, updated_at)
        values (${`rule_${rules}`}, ${t.environment.projectId}, ${rules++}, ${task}, ${type}, ${message}, ${groupKey}, now(), now())`;
    },
    async groups() {
      const query = listErrors.query.parse({ sort: 'firstSeen' });
      const { data } = await listErrorGroups(t.sql, { env, query, now: new Date(t.engine.clock.now()) });
      return data.map(({ id, fingerprint: own, errorMessage, count }) => ({
        id,
        fingerprint: own,
        errorMessage,
        count,
      }));
    },
  };
}

describe('a failure is grouped', () => {
  test("by the author's own fingerprint on the error, or otherwise on the task", async () => {
    const { fail, groups } = await failing('everything');
    await fail(thrown('one'), thrown('two'), thrown('three', { fingerprint: 'mine' }));
    expect((await groups()).map((group) => [group.fingerprint, group.count])).toEqual([
      ['mine', 1],
      ['everything', 2],
    ]);
  });

  test("by the first matching rule, which takes precedence over the author's fingerprint, by the raw or displayed message", async () => {
    const { fail, rule, groups } = await failing('everything');
    await rule({ type: 'RangeError', message: '*', groupKey: 'ranges' });
    await rule({ task: 't*', message: 'order 5 *', groupKey: 'five' });
    await rule({ message: 'order * failed', groupKey: 'orders' });
    await fail(
      thrown('order 5 failed', { fingerprint: 'mine' }),
      thrown('order 6 failed'),
      thrown('order 6 failed', { name: 'RangeError' }),
      thrown('something else'),
    );
    const found = Object.fromEntries((await groups()).map((group) => [group.fingerprint, group.count]));
    expect(found).toEqual({ five: 1, orders: 1, ranges: 1, everything: 1 });
  });

  test('by a rule, with the same result as its preview', async () => {
    const { t, fail, groups } = await failing();
    await fail(
      thrown('connect ETIMEDOUT 10.0.0.1:5432'),
      thrown('read ETIMEDOUT'),
      thrown('read ETIMEDOUT'),
      thrown('boom'),
    );
    const before = await groups();
    const rule = { message: '*ETIMEDOUT*', groupKey: 'network', limit: 100 };
    const now = new Date(t.engine.clock.now());
    expect(await previewRule(t.sql, [t.environment.id], rule, now)).toEqual({
      looked: 4,
      matched: 3,
      from: [
        expect.objectContaining({
          errorMessage: 'read ETIMEDOUT',
          matched: 2,
          looked: 2,
          taskIdentifier: 'test',
        }),
        expect.objectContaining({ matched: 1 }),
      ],
      into: [{ id: expect.stringMatching(/^error_/), taskIdentifier: 'test', matched: 3 }],
    });
    expect(await previewRule(t.sql, [t.environment.id], { ...rule, limit: 1 }, now)).toMatchObject({
      looked: 1,
      matched: 0,
    });
    expect(await groups()).toEqual(before);
  });
});

test('an error stays in the group assigned by an earlier version of the algorithm', async () => {
  const { t, fail, groups } = await failing();
  const both = [thrown('POST /orders returned 500'), thrown('POST /refunds returned 500')];
  const [first, second] = both.map((error) => prepareFailure(t.environment.id, 'test', error));
  const group = 'error_0123456789abcdef';
  const now = new Date(t.engine.clock.now());
  await introduce(t.sql, [{ ...first!, fingerprint: 'earlier', group }], now);
  await introduce(
    t.sql,
    [first!, second!].map((failure) => ({ ...failure, older: ['earlier'] })),
    now,
  );
  await fail(...both);
  expect((await groups()).map(({ id, count }) => [id, count])).toEqual([[group, 2]]);
});

test('all runs of a merged group are listed, by either id', async () => {
  const { t, fail, groups } = await failing();
  const runs = await fail(thrown('a'), thrown('b'), thrown('a'), thrown('c'));
  const [c, b, a] = await groups();
  const env = t.environment.id;
  const now = t.engine.clock.now();
  await mergeErrorGroups(t.sql, {
    env,
    id: a!.id,
    errors: [b!.id],
    now: () => new Date(now),
    principal: secretKey,
  });
  const [late] = await fail(thrown('b'));
  const listed = async (error: string) => {
    const query = listRunsOperation.query.parse({ 'filter[error]': error });
    return (await listRuns(t.sql, { envs: [env], query, now })).data.map((run) => run.id);
  };
  expect(await listed(a!.id)).toEqual([late, runs[2], runs[1], runs[0]]);
  expect(await listed(b!.id)).toEqual(await listed(a!.id));
  expect(await listed(c!.id)).toEqual([runs[3]]);
  expect(await listed('error_0000000000000000')).toEqual([]);
});

test('for any thrown value, the run ends and a group is created', async () => {
  const { t, fail, groups } = await failing();
  const huge = 'x'.repeat(10_000_000);
  const odd: SerializedError[] = [
    thrown(huge, { stackTrace: huge, name: huge }),
    thrown('a\u0000b\ud800', { name: '\udfff', stackTrace: '\u0000', fingerprint: '\ud800\u0000' }),
    thrown(7 as unknown as string, { name: { toString: null } as unknown as string }),
    thrown('constructor', { name: '__proto__', code: 'hasOwnProperty', fingerprint: 'toString' }),
    thrown('', { name: '', causes: 'none' as unknown as SerializedError[] }),
  ];
  const ids = await fail(...odd);
  for (const id of ids) {
    expect(await retrieveRun(t.engine, t.environment.id, id)).toMatchObject({ status: 'FAILED' });
  }
  const found = await groups();
  expect(found).toHaveLength(odd.length);
  expect(found.reduce((sum, group) => sum + group.count, 0)).toBe(odd.length);
  for (const { errorMessage } of found) expect(errorMessage).not.toBe('');
}, 60_000);

test('a run ends while another transaction is recording the same group', async () => {
  const { t, fail, groups } = await failing();
  await fail(thrown('boom'));
  const [group] = await groups();
  await t.sql.begin(async (open) => {
    await open`
      insert into error_arrivals (env, fingerprint_id, version, at, started, n)
      select env, id, 0, now(), now(), 1 from error_fingerprints where group_id = ${group!.id}`;
    // It would wait forever for the open one to end.
    await fail(thrown('boom'), thrown('boom'));
    expect(await groups()).toMatchObject([{ count: 3 }]);
  });
  expect(await groups()).toMatchObject([{ count: 4 }]);
});
