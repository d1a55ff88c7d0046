import type { ChannelRecord, FollowOptions } from '@millrace/sdk/executor';
import { expect, onTestFinished, test } from 'vitest';
import { Inbox } from './inbox.ts';

/** A channel in memory, and the inbox of an attempt that reads it. */
function reading() {
  const records: ChannelRecord[] = [];
  const ended = new AbortController();
  onTestFinished(() => ended.abort());
  let wake = (): void => undefined;
  const taken: (number | undefined)[] = [];
  async function* follow({ lastEventId = -1, signal }: FollowOptions) {
    for (let next = lastEventId + 1; !signal?.aborted;) {
      const record = records[next];
      if (record) {
        next += 1;
        yield record;
      } else {
        await new Promise<void>((resolve) => {
          wake = resolve;
          signal?.addEventListener('abort', () => resolve());
        });
      }
    }
  }
  const inbox = new Inbox(
    { follow, end: async () => undefined, onTaken: (seqNum) => void taken.push(seqNum) },
    ended.signal,
  );
  return {
    inbox,
    taken,
    async send(data: unknown, headers: ChannelRecord['headers'] = []) {
      const seq = records.length;
      records.push({
        seq,
        at: 1_000 + seq,
        body: JSON.stringify({ data: JSON.stringify(data), id: `m${seq}` }),
        headers,
      });
      wake();
      for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
    },
  };
}

test('messages are stored in order, and each is consumed once', async () => {
  const { inbox, send, taken } = reading();
  inbox.connect();
  await send('a');
  await send('turn', [['trigger-control', 'turn-complete']]);
  await send('b');
  expect(inbox.first).toEqual({ id: 'm0', seqNum: 0, data: 'a' });
  expect(await inbox.once().unwrap()).toMatchObject({ data: 'a' });
  expect(inbox.taken).toBe(0);
  expect(inbox.received).toBe(2);
  expect(await inbox.once().unwrap()).toMatchObject({ data: 'b' });
  const later = inbox.once();
  await send('c');
  expect(await later.unwrap()).toMatchObject({ data: 'c', seqNum: 3 });
  expect(inbox.taken).toBe(3);
  expect(taken.at(-1)).toBe(3);
  expect(await inbox.once({ timeoutMs: 1 })).toMatchObject({ ok: false });
});

test('a handler that returns true consumes a message; other handlers do not', async () => {
  const { inbox, send } = reading();
  const seen: unknown[] = [];
  const { off } = inbox.on(({ data }) => {
    seen.push(data);
    return data === 'mine';
  });
  await send('other');
  await send('mine');
  expect(seen).toEqual(['other', 'mine']);
  // An unconsumed message keeps the position from advancing.
  expect(inbox.taken).toBeUndefined();
  expect(inbox.shift()).toBe(true);
  expect(inbox.taken).toBe(1);
  off();
  await send('mine');
  expect(seen).toHaveLength(2);
});

test('a wait for certain messages does not skip others', async () => {
  const { inbox, send } = reading();
  const certain = inbox.once({}, ({ data }) => data === 'b');
  await send('a');
  await send('b');
  inbox.consume(0);
  expect(await certain.unwrap()).toMatchObject({ data: 'b' });
});

test('a rewind repeats stored messages but not skipped ones', async () => {
  const { inbox, send } = reading();
  inbox.connect();
  await send('a');
  await send('b');
  expect(await inbox.once().unwrap()).toMatchObject({ data: 'a' });
  expect(inbox.rewind()).toBe(0);
  expect(inbox.first).toBeUndefined();
  expect(await inbox.once().unwrap()).toMatchObject({ data: 'b' });
  inbox.disconnect();
  await send('c');
  await send('d');
  inbox.skipTo(2);
  expect(await inbox.once().unwrap()).toMatchObject({ data: 'd' });
});
