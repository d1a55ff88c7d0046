import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { listKeyWeights as listKeyWeightsOperation, type KeyWeightResponse } from '@millrace/contract';
import { testEngine } from '../runs/testing/engine.ts';
import { changeQueue } from './change.ts';
import { listKeyWeights } from './key-weights.ts';
import { listQueueKeys } from './keys.ts';
import { numRuns } from '../../../../test/support/long.ts';

async function started(queue: { weight?: number; keyWeights?: Record<string, number> } = {}) {
  const t = await testEngine();
  const { id: version } = await t.register({ id: 'sync', queue: { name: 'sync', ...queue } });
  await t.addRunner('r');
  /** The concurrency keys of the next `want` runs in claim order. */
  const take = async (want: number): Promise<string[]> => {
    const taken = await t.claim('r', [version], want);
    const ids = taken.map(({ run }) => run);
    const rows = await t.sql<{ id: string; key: string }[]>`
      select id, coalesce(concurrency_key, '') as key from runs where id = any(${ids})`;
    const keys = new Map(rows.map(({ id, key }) => [id, key]));
    return ids.map((id) => keys.get(id) ?? '?');
  };
  const fill = async (key: string, count: number) => {
    await Promise.all(Array.from({ length: count }, () => t.trigger('sync', { concurrencyKey: key })));
  };
  const setWeight = (key: string, weight: number | null) =>
    changeQueue(t.sql, t.environment.id, { type: 'custom', queue: 'sync' }, { key, weight });
  return { t, version, take, fill, setWeight };
}

const countOf = (keys: readonly string[], key: string): number => keys.filter((item) => item === key).length;

describe('concurrency keys under overload', () => {
  test('take turns by weight, whether runs are claimed one at a time or in bulk', async () => {
    const { take, fill } = await started({ keyWeights: { big: 3 } });
    await fill('big', 40);
    await fill('small', 40);
    const singly: string[] = [];
    for (let n = 0; n < 16; n++) singly.push(...(await take(1)));
    expect(countOf(singly, 'big')).toBe(12);
    expect(singly.join(' ')).toMatch(/big big big small big big big small/);
    const many = [...(await take(8)), ...(await take(8))];
    expect(countOf(many, 'big')).toBe(12);
  });

  test('have the weight of their queue, their own weight, or the setting of a user', async () => {
    const { t, take, fill, setWeight } = await started({ weight: 2, keyWeights: { b: 4 } });
    for (const key of ['a', 'b', 'c']) await fill(key, 30);
    const weights = async () => {
      const [queue] = await t.sql<{ id: number }[]>`select id from queues where name = 'sync'`;
      const keys = await listQueueKeys(t.sql, `queue_${queue?.id}`, 10);
      return Object.fromEntries(keys.map(({ key, weight }) => [key, weight]));
    };
    expect(await weights()).toEqual({ a: 2, b: 4, c: 2 });
    const counts = (keys: readonly string[]) => ['a', 'b', 'c'].map((key) => countOf(keys, key));
    expect(counts(await take(16))).toEqual([4, 8, 4]);
    await setWeight('a', 6);
    expect(await weights()).toEqual({ a: 6, b: 4, c: 2 });
    expect(counts(await take(12))).toEqual([6, 4, 2]);
    // A new version declares different ones. A user's setting remains until it is reset.
    await t.register({ id: 'sync', queue: { name: 'sync', keyWeights: { c: 5 } } });
    expect(await weights()).toEqual({ a: 6, b: 1, c: 5 });
    await setWeight('a', null);
    expect(await weights()).toEqual({ a: 1, b: 1, c: 5 });
    await setWeight('a', null);
    await t.register({ id: 'sync', queue: { name: 'sync' } });
    expect(await weights()).toEqual({ a: 1, b: 1, c: 1 });
    expect(await t.sql`select from key_weights`).toHaveLength(0);
  });

  test('with their own weight are listed in pages, without those of other environments', async () => {
    const { t, setWeight } = await started({ keyWeights: { b: 4, c: 3 } });
    const odd = ['a.b', ' ', 'ü', '0.', 'k'.repeat(512)];
    for (const key of odd) await setWeight(key, 7);
    await setWeight('b', 6);
    const all = async (env: number, size: number) => {
      const found: KeyWeightResponse[] = [];
      let after: string | undefined;
      do {
        const query = listKeyWeightsOperation.query.parse({
          'page[size]': size,
          ...(after !== undefined && { 'page[after]': after }),
        });
        const { data, pagination } = await listKeyWeights(t.sql, env, query);
        expect(data.length).toBeLessThanOrEqual(size);
        found.push(...data);
        after = pagination.next;
      } while (after !== undefined);
      return found;
    };
    const whole = await all(t.environment.id, 1_000);
    expect(whole).toHaveLength(odd.length + 2);
    expect(whole).toContainEqual({
      queue: 'sync',
      type: 'custom',
      key: 'b',
      weight: 6,
      base: 4,
      override: 6,
    });
    expect(whole).toContainEqual({
      queue: 'sync',
      type: 'custom',
      key: 'c',
      weight: 3,
      base: 3,
      override: null,
    });
    expect(whole).toContainEqual({
      queue: 'sync',
      type: 'custom',
      key: 'a.b',
      weight: 7,
      base: null,
      override: 7,
    });
    expect(await all(t.environment.id, 1)).toEqual(whole);
    expect(await all(t.environment.id + 1, 10)).toEqual([]);
  });

  test(
    'receive shares in proportion to their weights, regardless of claim size',
    { timeout: 60_000 },
    async () => {
      const weights = fc.uniqueArray(fc.integer({ min: 1, max: 9 }), { minLength: 2, maxLength: 4 });
      const wants = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 20, maxLength: 40 });
      await fc.assert(
        fc.asyncProperty(weights, wants, async (keyWeights, claims) => {
          const { t, take, fill } = await started({
            keyWeights: Object.fromEntries(keyWeights.map((weight, n) => [`k${n}`, weight])),
          });
          const total = claims.reduce((sum, want) => sum + want, 0);
          for (const n of keyWeights.keys()) await fill(`k${n}`, total);
          const taken: string[] = [];
          for (const want of claims) {
            taken.push(...(await take(want)));
            // How many turns each key has had.
            const turns = keyWeights.map((weight, n) => countOf(taken, `k${n}`) / weight);
            expect(Math.max(...turns) - Math.min(...turns)).toBeLessThanOrEqual(1);
          }
          expect(taken).toHaveLength(total);
          await t.close();
        }),
        { numRuns: numRuns(8), endOnFailure: true },
      );
    },
  );

  test('receive equal turns even if empty lanes divide them into pages', async () => {
    const { t, take, fill } = await started();
    const keys = Array.from({ length: 18 }, (_, n) => `k${n}`);
    for (const key of keys) await fill(key, 20);
    await t.sql`update lanes set turn = 1000 + substr(key, 2)::int`;
    // A few empty lanes remain. A page has 16 lanes here, so the last one has only two, with runs.
    await t.sql`delete from queued w using lanes l where l.id = w.lane_id and l.turn < 1008`;
    const taken: string[] = [];
    for (let n = 0; n < 6; n++) {
      taken.push(...(await take(16)));
      const turns = keys.slice(8).map((key) => countOf(taken, key));
      expect(Math.max(...turns) - Math.min(...turns), turns.join(' ')).toBeLessThanOrEqual(1);
    }
    expect(taken).toHaveLength(96);
  });

  test(
    'wait at most two revolutions, regardless of the number of new keys',
    { timeout: 120_000 },
    async () => {
      const step = fc.record({
        comes: fc.integer({ min: 3, max: 20 }),
        runs: fc.integer({ min: 1, max: 3 }),
        want: fc.integer({ min: 1, max: 5 }),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 30 }), async (steps) => {
          const { t, take } = await started();
          /** Keys that wait for a start, with the start from which they have been waiting and their remaining runs. */
          const waiting = new Map<string, { runs: number; since: number }>();
          /** How many keys waited, after each number of starts. */
          const waitingCounts = [0];
          let keys = 0;
          for (const { comes, runs, want } of steps) {
            const came = Array.from({ length: comes }, () => `k${keys++}`);
            const starts = waitingCounts.length - 1;
            await Promise.all(
              came.flatMap((concurrencyKey) =>
                Array.from({ length: runs }, () => t.trigger('sync', { concurrencyKey })),
              ),
            );
            for (const key of came) waiting.set(key, { runs, since: starts });
            waitingCounts[starts] = waiting.size;
            // The worst position for waiting keys: every new key is between the claims and the end of the ring.
            await t.sql`update lanes set turn = 1000 + id where turn <> 1000 + id`;
            for (const key of await take(want)) {
              const wait = waiting.get(key);
              if (!wait) throw new Error(`${key} does not wait`);
              waiting.delete(key);
              if (wait.runs > 1) waiting.set(key, { runs: wait.runs - 1, since: waitingCounts.length });
              waitingCounts.push(waiting.size);
            }
            for (const [key, { since }] of waiting) {
              // Each revolution includes at most the keys that waited when it began. This counts the revolution in progress when the key
              // arrived, and the next.
              const next = since + (waitingCounts[since] ?? 0);
              const before = next + (waitingCounts[next] ?? Number.POSITIVE_INFINITY) + want;
              expect(waitingCounts.length - 1, `the starts without ${key}`).toBeLessThanOrEqual(before);
            }
          }
          await t.close();
        }),
        { numRuns: numRuns(6), endOnFailure: true },
      );
    },
  );

  test('receive their turn even if keys arrive faster than runs start', async () => {
    const { t, take, fill } = await started();
    await fill('old', 3);
    const taken: string[] = [];
    for (let n = 0; n < 24; n++) {
      for (let k = 0; k < 3; k++) await fill(`new ${n} ${k}`, 1);
      await t.sql`update lanes set turn = case key when 'old' then 2000000000 else 1000 + id end`;
      taken.push(...(await take(2)));
    }
    expect(countOf(taken, 'old')).toBe(3);
  });
});
