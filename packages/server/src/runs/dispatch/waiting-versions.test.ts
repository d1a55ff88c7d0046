import { expect, onTestFinished, test } from 'vitest';
import { testEngine } from '../testing/engine.ts';
import { readReady, WaitingVersions } from './waiting-versions.ts';

test('lists each version with lanes once, reads again after half a second, and returns when to read again', async () => {
  const { sql, environment } = await testEngine();
  const env = environment.id;
  const add = (pinned: number, blocked = false, of = env) => sql`
    insert into lanes (env, queue_id, key, pinned_version, blocked)
    select ${of}, ${pinned + (blocked ? 500 : 0)}, 'k' || n, ${pinned}, ${blocked} from generate_series(1, 5) n`;
  await add(0);
  await add(3);
  await add(700);
  await add(9, true);
  await add(8, false, env + 1);
  const again: number[] = [];
  const waiting = new WaitingVersions(sql, (which) => again.push(which));
  onTestFinished(() => waiting.stop());
  expect([...(await waiting.in(env, performance.now()))]).toEqual([3, 700]);
  // No wake-up has occurred since the read.
  await waiting.in(env, 0);
  expect(again).toEqual([]);
  await add(5);
  expect([...(await waiting.in(env, performance.now()))]).toEqual([3, 700]);
  expect([...(await waiting.in(env, performance.now()))]).toEqual([3, 700]);
  await expect.poll(() => again).toEqual([env]);
  expect([...(await waiting.in(env, performance.now()))]).toEqual([3, 5, 700]);
});

test('lists the environments with runs that could start, using one statement for many', async () => {
  const { sql } = await testEngine();
  await sql`
    insert into lanes (env, queue_id, key, pinned_version, blocked)
    select env, env, 'k' || n, n % 3, env % 2 = 1 from generate_series(1001, 1300) env, generate_series(1, 3) n`;
  const envs = [1_002, 1_003, 1_250, 1_301, 5_000];
  expect(new Set(await readReady(sql, envs))).toEqual(new Set([1_002, 1_250]));
  expect(await readReady(sql, [])).toEqual([]);
});
