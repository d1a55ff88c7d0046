import { describe, expect, onTestFinished, test } from 'vitest';
import { Hub } from './hub.ts';
import type { Page } from './page.ts';
import { runStream } from './key.ts';
import { readTails } from './read.ts';
import { collector, gate, testStore, texts } from './testing/store.ts';

const upTo = (count: number, from = 0) => Array.from({ length: count }, (_, n) => n + from);
const eventually = async (seqs: () => readonly number[], expected: readonly number[], timeout = 20_000) =>
  await expect.poll(seqs, { interval: 10, timeout }).toEqual(expected);

describe('a follower', () => {
  test('receives stored and new records once each, in order', async () => {
    const store = await testStore();
    const key = await store.channel();
    await store.append(key, texts(...upTo(2_500).map(String)));
    const { seqs, follower } = collector();
    const following = store.follow(key, 0, follower);
    const late = collector();
    store.follow(key, 2_490, late.follower);
    await Promise.all(upTo(500).map((n) => store.append(key, texts(`${n}`))));
    await eventually(() => seqs, upTo(3_000));
    await eventually(() => late.seqs, upTo(510, 2_490));
    following.close();
    await store.append(key, texts('after'));
    expect(seqs).toHaveLength(3_000);
  });

  test('may follow before the channel exists, and from beyond its end', async () => {
    const store = await testStore();
    const key = runStream(1, 'run_1', 'later');
    const early = collector();
    store.follow(key, 0, early.follower);
    await store.open([{ key }]);
    await store.append(key, texts('a', 'b'));
    let caughtUp = false;
    const past = collector({ caughtUp: () => (caughtUp = true) });
    store.follow(key, 99, past.follower);
    await expect.poll(() => caughtUp, { interval: 5, timeout: 20_000 }).toBe(true);
    expect([await store.cursorFor(key, 99), await store.cursorFor(key, 1)]).toEqual([2, 1]);
    await store.append(key, texts('c'));
    await eventually(() => early.seqs, [0, 1, 2]);
    // A number beyond the end belongs to an earlier channel with this key, so all records are new to the follower.
    await eventually(() => past.seqs, [2]);
  });

  test('on another server learns of appends by a notification, or by the poll if that is lost', async () => {
    const store = await testStore({ isolated: false });
    const connected = await store.replica({ isolated: false });
    const isolated = await store.replica({ isolated: true });
    const key = await store.channel();
    const [first, second] = [collector(), collector()];
    connected.follow(key, 0, first.follower);
    isolated.follow(key, 0, second.follower);
    for (const n of upTo(20)) await store.append(key, texts(`${n}`));
    await eventually(() => first.seqs, upTo(20));
    await eventually(() => second.seqs, upTo(20));
    // Both processes write and read.
    await Promise.all(upTo(200).map((n) => (n % 2 ? store : connected).append(key, texts(`${n}`))));
    await eventually(() => first.seqs, upTo(220));
    await eventually(() => second.seqs, upTo(220));
  });

  test('does not receive a record twice after it leaves a server that is ahead', async () => {
    const store = await testStore();
    const isolated = await store.replica({ isolated: true });
    const key = await store.channel();
    await store.append(key, texts('a'));
    const early = collector();
    isolated.follow(key, 0, early.follower);
    await eventually(() => early.seqs, [0]);
    for (const n of upTo(5)) await store.append(key, texts(`${n}`));
    // It has received everything up to number 5, and moves to a process that only knows number 0.
    const moved = collector();
    isolated.follow(key, 6, moved.follower);
    await store.append(key, texts('new'));
    await eventually(() => early.seqs, upTo(7));
    await eventually(() => moved.seqs, [6]);
  });

  test('receives nothing while paused, and misses nothing after resuming', async () => {
    const store = await testStore();
    const key = await store.channel();
    let room = 3;
    const slow = collector();
    const follower = { ...slow.follower, deliver: (page: Page) => slow.follower.deliver(page) && --room > 0 };
    const following = store.follow(key, 0, follower);
    for (const n of upTo(50)) await store.append(key, texts(`${n}`));
    await eventually(() => slow.seqs.slice(0, 3), upTo(3));
    const before = slow.seqs.length;
    await store.append(key, texts('more'));
    expect(slow.seqs).toHaveLength(before);
    room = 1_000;
    following.resume();
    await eventually(() => slow.seqs, upTo(51));
    await store.append(key, texts('live again'));
    await eventually(() => slow.seqs, upTo(52));
  });

  test('of a trimmed channel begins with the first remaining record', async () => {
    const store = await testStore();
    const key = await store.channel();
    await store.append(key, texts(...upTo(10).map(String)));
    await store.trim(key, 7);
    const { seqs, follower } = collector();
    store.follow(key, 0, follower);
    await eventually(() => seqs, [7, 8, 9]);
    await store.trim(key, 10);
    const none = collector();
    store.follow(key, 2, none.follower);
    await store.append(key, texts('new'));
    await eventually(() => none.seqs, [10]);
  });

  test('that shares a read of a fully trimmed channel misses no later record', async () => {
    const store = await testStore();
    const key = await store.channel();
    await store.append(key, texts('old'));
    await store.trim(key, 1);
    const [read, notified] = [gate(), gate()];
    const hub = new Hub({
      tails: (keys) => readTails(store.sql, keys),
      now: () => Date.now(),
      async read(of, from) {
        const found = await store.read(of, from);
        read.open();
        await notified.opened;
        return found;
      },
    });
    onTestFinished(() => hub.stop());
    const [early, late] = [collector(), collector()];
    hub.follow(key, 0, early.follower);
    await read.opened;
    const { start, at } = await store.append(key, texts('new'));
    hub.appendedHere(key, [{ body: 'new', seq: start, at }]);
    hub.follow(key, 0, late.follower);
    notified.open();
    await eventually(() => early.seqs, [1]);
    await eventually(() => late.seqs, [1]);
  });
});

describe('a read of the log', () => {
  test('is shared: a thousand followers at one position cause at most five reads', async () => {
    const store = await testStore();
    const key = await store.channel();
    await store.append(key, texts(...upTo(900).map(String)));
    const followers = upTo(1_000).map(() => collector());
    for (const { follower } of followers) store.follow(key, 100, follower);
    await expect
      .poll(() => followers.every(({ seqs }) => seqs.length === 800), { interval: 10, timeout: 20_000 })
      .toBe(true);
    expect(store.logReads).toBeLessThanOrEqual(5);
  });
});
