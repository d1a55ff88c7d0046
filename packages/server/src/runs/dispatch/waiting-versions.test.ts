import { expect, onTestFinished, test } from 'vitest';
import { testEngine } from '../testing/engine.ts';
import { WaitingVersions } from './waiting-versions.ts';

test('names each version with lanes once, reads again after half a second, and says when to ask again', async () => {
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
  expect([...(await waiting.in(env))]).toEqual([3, 700]);
  await add(5);
  expect([...(await waiting.in(env))]).toEqual([3, 700]);
  expect([...(await waiting.in(env))]).toEqual([3, 700]);
  await expect.poll(() => again, { timeout: 5_000 }).toEqual([env]);
  expect([...(await waiting.in(env))]).toEqual([3, 5, 700]);
});
