import { describe, expect, onTestFinished, test } from 'vitest';
import type { Wake } from '../db/wake.ts';
import { cancelRun } from '../runs/cancel/cancel.ts';
import { testEngine } from '../runs/testing/engine.ts';
import { createInterest } from './changes.ts';
import { followRuns, type FollowOptions } from './follow.ts';
import type { RunSnapshot } from './run-snapshot.ts';

const wait = { timeout: 20_000, interval: 5 };

async function following(options: FollowOptions = {}) {
  const t = await testEngine();
  const followed = followRuns(t.engine.sql, options);
  onTestFinished(followed.stop);
  const watch = (id: string) => {
    const received: (RunSnapshot | null)[] = [];
    const stop = followed.follow(t.environment.id, id, (run) => void received.push(run));
    return { received, stop };
  };
  return { t, followed, watch };
}

describe('a followed run', () => {
  test('is read once per change, regardless of the number of listeners, and never without listeners', async () => {
    const { t, followed, watch } = await following({ pollMs: 60_000 });
    const { id } = await t.trigger('send');
    const all = Array.from({ length: 1_000 }, () => watch(id));
    await expect.poll(() => all.every(({ received }) => received.length === 1), wait).toBe(true);
    expect([followed.reads, followed.size]).toEqual([1, 1]);
    await cancelRun(t.engine, t.runners, t.environment.id, id);
    followed.changed(t.environment.id, [id, id, 'run_other']);
    await expect
      .poll(() => all.every(({ received }) => received.at(-1)?.status === 'CANCELED'), wait)
      .toBe(true);
    expect(followed.reads).toBe(2);
    followed.changed(t.environment.id, [id]);
    await expect.poll(() => followed.reads, wait).toBe(3);
    expect(all.every(({ received }) => received.length === 2)).toBe(true);
    for (const { stop } of all) stop();
    followed.changed(t.environment.id, [id]);
    followed.someChanged(t.environment.id);
    expect([followed.size, followed.reads]).toEqual([0, 3]);
  });

  test('is polled until it has ended', async () => {
    const { t, followed, watch } = await following({ pollMs: 30 });
    const [canceled, other] = [await t.trigger('send'), await t.trigger('send')];
    const [first, second] = [watch(canceled.id), watch(other.id)];
    await expect.poll(() => [first.received.length, second.received.length], wait).toEqual([1, 1]);
    await cancelRun(t.engine, t.runners, t.environment.id, canceled.id);
    await expect.poll(() => first.received.at(-1)?.status, wait).toBe('CANCELED');
    second.stop();
    // Ended runs are not read unnecessarily.
    const { reads } = followed;
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(followed.reads - reads).toBeLessThanOrEqual(1);
  });

  test('is reported as null when it is deleted', async () => {
    const { t, watch } = await following({ pollMs: 30 });
    const { id } = await t.trigger('send');
    const { received } = watch(id);
    await expect.poll(() => received.length, wait).toBe(1);
    await t.sql`delete from pending_version where run_id = ${id}`;
    await t.sql`delete from runs where id = ${id}`;
    await expect.poll(() => received.at(-1), wait).toBeNull();
  });

  test('reports each visible change', async () => {
    const { t, followed, watch } = await following({ pollMs: 60_000 });
    const version = await t.register('send');
    await t.addRunner('runner_a');
    const { id } = await t.trigger('send', { delay: '1h' });
    const { received } = watch(id);
    const next = async (count: number) => {
      followed.changed(t.environment.id, [id]);
      await expect.poll(() => received.length, wait).toBe(count);
      return received.at(-1) as RunSnapshot;
    };
    expect((await next(1)).status).toBe('DELAYED');
    t.engine.clock.shift(3_700_000);
    await t.promote();
    expect((await next(2)).status).toBe('QUEUED');
    const [attempt] = await t.claim('runner_a', [version.id], 1);
    expect(await next(3)).toMatchObject({ status: 'EXECUTING', attempt: 1, version: version.version });
    await t.sql`update runs set metadata = '{"a":1}' where id = ${id}`;
    expect((await next(4)).metadata).toBe('{"a":1}');
    await t.sql`update runs set tags = '{x}' where id = ${id}`;
    expect((await next(5)).tags).toEqual(['x']);
    await t.end(attempt as { run: string; fence: number }, {
      kind: 'completed',
      output: '7',
      outputType: 'application/json',
    });
    expect(await next(6)).toMatchObject({ status: 'COMPLETED', output: '7' });
  });
});

describe('announcements', () => {
  const talking = () => {
    const hearers: ((wake: Wake) => void)[] = [];
    const sent: Wake[] = [];
    const wakes = {
      notify: (wake: Wake) => void sent.push(wake),
      listen: (hear: (wake: Wake) => void) => void hearers.push(hear),
      stop: async () => {},
    };
    const interest = createInterest(wakes);
    onTestFinished(interest.stop);
    return { interest, sent, hear: (wake: Wake) => hearers.forEach((each) => each(wake)) };
  };

  test('are dropped for an environment without subscribers', () => {
    const { interest, sent, hear } = talking();
    const notified: unknown[] = [];
    const note = (...what: unknown[]): void => void notified.push(what);
    interest.listen({ changed: note, tagged: note, someChanged: note });
    hear({ kind: 'watching', env: 2 });
    const stop = interest.watch(3);
    sent.length = 0;
    interest.changes.changed(1, ['run_a']);
    interest.changes.tagged(1, 'run_a', ['t']);
    expect([sent, notified, interest.changes.isWatched(1)]).toEqual([[], [], false]);
    interest.changes.changed(2, ['run_b']);
    expect([sent, notified]).toEqual([[{ kind: 'runs', env: 2 }], []]);
    interest.changes.changed(3, ['run_c']);
    expect(notified).toEqual([[3, ['run_c']]]);
    hear({ kind: 'runs', env: 3 });
    expect(notified.at(-1)).toEqual([3]);
    stop();
    interest.changes.changed(3, ['run_c']);
    expect(notified).toHaveLength(2);
  });
});
