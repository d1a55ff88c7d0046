import { expect, onTestFinished, test } from 'vitest';
import { cancelRun } from '../runs/cancel/cancel.ts';
import { testEngine } from '../runs/testing/engine.ts';
import { followRuns, type RunListener } from './follow.ts';
import type { RunSnapshot } from './run-snapshot.ts';
import { taggedRuns } from './subject.ts';
import { WatchedSet } from './watched-set.ts';

const wait = { timeout: 20_000, interval: 5 };

test('a subscriber from another process receives the changes during the first read of the set', async () => {
  const t = await testEngine();
  const { sql, clock } = t.engine;
  const env = t.environment.id;
  const before = clock.now();
  const [early, late] = [
    await t.trigger('send', { tags: ['watched'] }),
    await t.trigger('send', { tags: ['watched'] }),
  ];
  const followed = followRuns(sql, { pollMs: 60_000 });
  onTestFinished(followed.stop);
  let open!: () => void;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const seen: (RunSnapshot | null)[] = [];
  const follow = (of: number, id: string, listener: RunListener) =>
    followed.follow(of, id, (run) => {
      if (id === late.id) return void opened.then(() => listener(run));
      seen.push(run);
      listener(run);
    });
  const subject = taggedRuns(env, ['watched'], [], before - 1_000);
  const set = new WatchedSet(subject, { sql, clock, followed: { ...followed, follow } });
  onTestFinished(() => set.close());
  await expect.poll(() => seen.length, wait).toBe(1);
  await cancelRun(t.engine, t.runners, env, early.id);
  followed.changed(env, [early.id]);
  await expect.poll(() => seen.at(-1)?.status, wait).toBe('CANCELED');
  open();
  await set.ready;
  const news = await set.next(`${before}.1.1`, new AbortController().signal);
  const changed = news === 'lost' ? [] : news.runs.filter(({ id }) => id === early.id);
  expect(changed.map(({ status }) => status)).toEqual(['CANCELED']);
});

test('a subscriber from another process starts over if the log has dropped a change that it missed', async () => {
  const t = await testEngine();
  const { sql, clock } = t.engine;
  for (let n = 0; n < 2; n++) await t.trigger('send', { tags: ['watched'] });
  const followed = followRuns(sql, { pollMs: 60_000 });
  onTestFinished(followed.stop);
  const members: { run: RunSnapshot; listener: RunListener }[] = [];
  const follow = (env: number, id: string, listener: RunListener) =>
    followed.follow(env, id, (run) => {
      if (run) members.push({ run, listener });
      listener(run);
    });
  const subject = taggedRuns(t.environment.id, ['watched'], [], clock.now() - 10_000);
  const set = new WatchedSet(subject, { sql, clock, followed: { ...followed, follow } });
  onTestFinished(() => set.close());
  await set.ready;
  const gone = new AbortController();
  const news = set.next(`${clock.now()}.1.1`, gone.signal);
  // One macrotask later it waits for changes.
  await new Promise((resolve) => setImmediate(resolve));
  for (const { run, listener } of members) listener({ ...run, payload: 'x'.repeat(3_000_000) });
  expect(await news).toBe('lost');
});
