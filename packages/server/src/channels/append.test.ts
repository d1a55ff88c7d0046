import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AppendRefused } from './refused.ts';
import { closeChannels } from './open.ts';
import { runStream, sessionChannel, type ChannelKey } from './key.ts';
import { all, testStore, texts } from './testing/store.ts';
import { numRuns } from '../../../../test/support/long.ts';

const refusal = (reason: string) =>
  expect.objectContaining({ name: 'AppendRefused', reason }) as AppendRefused;

describe('records', () => {
  test('are numbered from 0 without gaps, in the order of each caller', async () => {
    const store = await testStore();
    const [first, second] = [await store.channel(), await store.channel()];
    const sent = await Promise.all(
      Array.from({ length: 400 }, (_, n) => store.append(n % 3 === 0 ? second : first, texts(`${n}`))),
    );
    expect(sent.map(({ start }) => start).filter((_, n) => n % 3 === 0)).toEqual(
      Array.from({ length: 134 }, (_, n) => n),
    );
    const records = await all(store, first);
    expect(records.map(({ seq }) => seq)).toEqual(records.map((_, n) => n));
    expect(records.map(({ body }) => Number(body))).toEqual(
      Array.from({ length: 400 }, (_, n) => n).filter((n) => n % 3 !== 0),
    );
    for (const [n, { at }] of records.entries()) expect(at).toBeGreaterThanOrEqual(records[n - 1]?.at ?? 0);
    expect(await store.tail(first)).toMatchObject({ tail: 266, start: 0, closed: false });
  });

  test('are read back unchanged, with any text and headers', async () => {
    const store = await testStore();
    const text = fc
      .string({ unit: 'binary', maxLength: 40 })
      .filter((each) => !each.includes('\0') && each.isWellFormed());
    const record = fc.record({
      body: text,
      headers: fc.option(fc.array(fc.tuple(text, text), { minLength: 1, maxLength: 3 }), { nil: undefined }),
      id: fc.option(text, { nil: undefined }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(record, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 4 }),
        async (appends) => {
          const key = await store.channel();
          await Promise.all(appends.map((records) => store.append(key, records)));
          const stored = await all(store, key);
          expect(stored.map(({ body, headers, id }) => ({ body, headers, id }))).toEqual(
            appends.flat().map(({ body, headers, id }) => ({ body, headers, id })),
          );
        },
      ),
      { numRuns: numRuns(30) },
    );
  });

  test('are rejected if they cannot be stored unchanged', async () => {
    const store = await testStore();
    const key = await store.channel();
    await expect(store.append(key, texts('a\0b'))).rejects.toMatchObject({ status: 400 });
    await expect(store.append(key, texts('\ud800'))).rejects.toMatchObject({ status: 400 });
    await expect(store.append(key, texts('x'.repeat(8_388_609)))).rejects.toMatchObject({ status: 413 });
    await expect(store.append(key, [{ body: '', headers: [['a', '\0']] }])).rejects.toMatchObject({
      status: 400,
    });
    expect((await store.append(key, texts('after'))).start).toBe(0);
  });

  test('are not affected by rejected appends in the same write', async () => {
    const store = await testStore();
    const [first, second] = [await store.channel(), await store.channel()];
    const odd = [
      store.append(first, texts('a'), { fencingToken: 'a\0' }),
      store.append(first, texts('b'), { newFencingToken: '\0' }),
      store.append(first, texts('c'), { matchSeqNum: 2 ** 70 }),
    ].map((append) => append.catch((error: unknown) => error));
    expect(await store.append(second, texts('d'))).toMatchObject({ start: 0 });
    for (const answer of await Promise.all(odd)) expect(answer).toMatchObject({ status: 400 });
    expect(await all(store, first)).toEqual([]);
  });

  test('are read in pages limited in number and bytes, starting at any record', async () => {
    const store = await testStore();
    const key = await store.channel();
    const half = 'x'.repeat(131_072);
    await store.append(key, texts(...Array.from({ length: 10 }, () => half)));
    await store.append(key, texts(...Array.from({ length: 3_000 }, (_, n) => `${n}`)));
    const first = await store.read(key, 1);
    expect(first.records.map(({ seq }) => seq)).toEqual(
      Array.from({ length: first.next - 1 }, (_, n) => n + 1),
    );
    expect(first.records.length).toBeLessThanOrEqual(4);
    const later = await store.read(key, 700);
    expect([later.records[0]?.seq, later.records.length <= 1_000, later.next]).toEqual([
      700,
      true,
      700 + later.records.length,
    ]);
    expect((await store.read(key, 20, 7)).records.map(({ seq }) => seq)).toEqual([
      20, 21, 22, 23, 24, 25, 26,
    ]);
    expect((await store.read(key, 3_010)).records).toEqual([]);
    expect((await store.read(runStream(1, 'run_1', 'nothing'), 0)).records).toEqual([]);
    expect((await all(store, key)).map(({ seq }) => seq)).toEqual(Array.from({ length: 3_010 }, (_, n) => n));
  });
});

describe('a part id', () => {
  test('appends once: repeated sequentially, 40 times concurrently and on another server, it returns the original number', async () => {
    const store = await testStore();
    const replica = await store.replica();
    const key = await store.channel();
    await store.append(key, texts('before'));
    const first = await store.append(key, texts('a', 'b'), { partId: 'p' });
    expect(first).toMatchObject({ start: 1, end: 3, repeated: false });
    const again = await Promise.all(
      Array.from({ length: 40 }, (_, n) =>
        (n % 2 ? store : replica).append(key, texts('other'), { partId: 'p' }),
      ),
    );
    for (const each of again) expect(each).toMatchObject({ start: 1, end: 3, repeated: true });
    const race = await Promise.all(
      Array.from({ length: 40 }, (_, n) =>
        (n % 2 ? store : replica).append(key, texts('race'), { partId: 'q' }),
      ),
    );
    expect(race.filter(({ repeated }) => !repeated)).toHaveLength(1);
    expect(new Set(race.map(({ start }) => start))).toEqual(new Set([3]));
    expect((await all(store, key)).map(({ body }) => body)).toEqual(['before', 'a', 'b', 'race']);
    // The part id belongs to one channel only.
    expect((await store.append(await store.channel(), texts('x'), { partId: 'p' })).repeated).toBe(false);
  });

  test('does not delay or reorder other appends of the same write', async () => {
    const store = await testStore();
    const key = await store.channel();
    await store.append(key, texts('known'), { partId: 'p' });
    const sent = await Promise.all(
      Array.from({ length: 30 }, (_, n) =>
        n % 5 === 2
          ? store.append(key, texts('repeated'), { partId: 'p' })
          : store.append(key, texts(`${n}`), n % 2 ? { partId: `own ${n}` } : {}),
      ),
    );
    expect(sent.filter(({ repeated }) => repeated).map(({ start }) => start)).toEqual([0, 0, 0, 0, 0, 0]);
    expect((await all(store, key)).map(({ body }) => body)).toEqual([
      'known',
      ...Array.from({ length: 30 }, (_, n) => n)
        .filter((n) => n % 5 !== 2)
        .map(String),
    ]);
  });

  test('belongs to its own append, regardless of other appends in the same write', async () => {
    const store = await testStore();
    const keys = await Promise.all(['a', 'b', 'c', 'd'].map((name) => store.channel(name)));
    const [other] = keys as [ChannelKey];
    const write = (round: number) =>
      Promise.all(
        Array.from({ length: 40 }, (_, n) => {
          const key = keys[n % 4] as ChannelKey;
          // In the third channel, no append has an id; in the others, every second append does. Appends have one or two records.
          const partId = n % 4 === 2 || n % 8 < 4 ? undefined : `${n}`;
          return store
            .append(key, texts(...(n % 3 ? [`${n}`] : [`${n}`, `${n}+`])), partId ? { partId } : {})
            .then((appended) => ({ ...appended, key, n, round, partId }));
        }),
      );
    // A single append goes first; all others wait for it and share the next write.
    void store.append(other, texts('first'), { partId: 'first' });
    const sent = await write(1);
    for (const { key, start, end, n, repeated } of sent) {
      expect(repeated).toBe(false);
      const { records } = await store.read(key, start, end - start);
      expect(records.map(({ body }) => body)).toEqual(n % 3 ? [`${n}`] : [`${n}`, `${n}+`]);
    }
    for (const again of await write(2)) {
      const first = sent.find(({ n }) => n === again.n);
      if (again.partId !== undefined)
        expect(again).toMatchObject({ start: first?.start, end: first?.end, repeated: true });
      else expect(again.repeated).toBe(false);
    }
  });

  test('still gets its result after a close, which rejects all other appends', async () => {
    const store = await testStore();
    const key = sessionChannel(1, 'session_1', 'in');
    await store.open([{ key, session: 'session_1' }]);
    await store.append(key, texts('a'), { partId: 'p' });
    await store.sql.begin((tx) => closeChannels(tx, 1, 'session_1', Date.now));
    const [repeated, refused] = await Promise.allSettled([
      store.append(key, texts('a'), { partId: 'p' }),
      store.append(key, texts('b'), { partId: 'new' }),
    ]);
    expect(repeated).toMatchObject({ value: { start: 0, repeated: true } });
    expect(refused).toMatchObject({ reason: refusal('closed') });
    expect(await store.tail(key)).toMatchObject({ tail: 1, closed: true });
  });

  test('is deleted with its record', async () => {
    const store = await testStore();
    const key = await store.channel();
    await store.append(key, texts('a'), { partId: 'p' });
    await store.append(key, texts('b'), { partId: 'q' });
    await store.trim(key, 1);
    expect(await store.append(key, texts('again'), { partId: 'p' })).toMatchObject({
      start: 2,
      repeated: false,
    });
    expect(await store.append(key, texts('again'), { partId: 'q' })).toMatchObject({
      start: 1,
      repeated: true,
    });
  });
});

describe('a condition', () => {
  test('on the next number lets one of several writers append', async () => {
    const store = await testStore();
    const replica = await store.replica();
    const key = await store.channel();
    await store.append(key, texts('a'));
    const settled = await Promise.allSettled(
      Array.from({ length: 20 }, (_, n) =>
        (n % 2 ? store : replica).append(key, texts(`${n}`), { matchSeqNum: 1 }),
      ),
    );
    expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const each of settled) {
      if (each.status === 'rejected')
        expect(each.reason).toMatchObject({ status: 412, reason: 'match', tail: 2 });
    }
  });

  test('that fails does not affect other appends of the same write', async () => {
    const store = await testStore();
    const key = await store.channel();
    const settled = await Promise.allSettled([
      store.append(key, texts('a'), { matchSeqNum: 7 }),
      store.append(key, texts('b')),
      store.append(key, texts('c'), { matchSeqNum: 1 }),
      store.append(key, texts('d'), { matchSeqNum: 1 }),
    ]);
    expect(settled.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled', 'rejected']);
    expect((await all(store, key)).map(({ body }) => body)).toEqual(['b', 'c']);
  });

  test('on the fencing token rejects a replaced writer', async () => {
    const store = await testStore();
    const key = await store.channel();
    await store.append(key, texts('take over'), { newFencingToken: 'two', fencingToken: '' });
    await expect(store.append(key, texts('old'), { fencingToken: 'one' })).rejects.toEqual(refusal('fence'));
    expect(await store.append(key, texts('new'), { fencingToken: 'two' })).toMatchObject({ start: 1 });
    expect(await store.append(key, texts('whoever'))).toMatchObject({ start: 2 });
  });
});

describe('a channel', () => {
  test('has times that never decrease, in separate or shared writes', async () => {
    const store = await testStore();
    const keys = await Promise.all(['a', 'b', 'c'].map((name) => store.channel(name)));
    const ahead = Date.now() + 3_600_000;
    const [, later] = keys as [ChannelKey, ChannelKey];
    await store.sql`update channels set last_at = ${new Date(ahead)} where id = ${later.id}`;
    const alone = await store.append(later, texts('alone'));
    const together = await Promise.all(keys.map((key) => store.append(key, texts('together'))));
    expect(alone.at).toBe(ahead);
    expect(together.map(({ at }) => at === ahead)).toEqual([false, true, false]);
    expect((await all(store, later)).map(({ at }) => at)).toEqual([ahead, ahead]);
  });

  test('rejects appends if it does not exist or has expired', async () => {
    const store = await testStore();
    const key = await store.channel();
    await store.open([{ key: runStream(1, 'run_1', 'past'), expiresAt: new Date(Date.now() - 1_000) }]);
    const settled = await Promise.allSettled([
      store.append(runStream(1, 'run_1', 'none'), texts('a')),
      store.append(runStream(1, 'run_1', 'past'), texts('a')),
      store.append(key, texts('a')),
    ]);
    expect(settled).toMatchObject([
      { reason: { status: 404, reason: 'missing' } },
      { reason: { status: 400, reason: 'expired' } },
      { value: { start: 0 } },
    ]);
  });

  test('is trimmed at the front and can be appended to', async () => {
    const store = await testStore();
    const key = await store.channel();
    for (let n = 0; n < 30; n++) await store.append(key, texts(`${n}`, `${n}`), { partId: `${n}` });
    await store.trim(key, 21);
    expect((await all(store, key)).map(({ seq }) => seq)).toEqual(
      Array.from({ length: 39 }, (_, n) => n + 21),
    );
    expect(await store.tail(key)).toMatchObject({ tail: 60, start: 21 });
    await store.trim(key, 5);
    await store.trim(key, 1_000);
    expect(await store.tail(key)).toMatchObject({ tail: 60, start: 60 });
    expect((await store.append(key, texts('next'))).start).toBe(60);
    const [{ segments, parts } = { segments: 0, parts: 0 }] = await store.sql<
      { segments: number; parts: number }[]
    >`
      select (select count(*) from channel_segments)::int as segments, (select count(*) from channel_parts)::int as parts`;
    expect([segments, parts]).toEqual([1, 0]);
  });

  test('is closed atomically: appends acknowledged before are stored, later ones are rejected', async () => {
    const store = await testStore();
    const replica = await store.replica();
    for (let round = 0; round < 10; round++) {
      const session = `session_${round}`;
      const key = sessionChannel(1, session, 'in');
      await store.open([{ key, session }]);
      const appends = Array.from({ length: 60 }, (_, n) =>
        (n % 2 ? store : replica).append(key, texts(`${n}`), { partId: `${n}` }).then(
          ({ start }) => ({ n, start }),
          (error: unknown) => error,
        ),
      );
      const closing = store.sql.begin((tx) => closeChannels(tx, 1, session, Date.now));
      const settled = await Promise.all(appends);
      const closedAt = await closing;
      const stored = await all(store, key);
      const acknowledged = settled.filter((each) => !(each instanceof Error)) as {
        n: number;
        start: number;
      }[];
      expect(new Map(stored.map(({ seq, body }) => [seq, Number(body)]))).toEqual(
        new Map(acknowledged.map(({ n, start }) => [start, n])),
      );
      for (const each of settled) if (each instanceof Error) expect(each).toEqual(refusal('closed'));
      for (const { at } of stored) expect(at).toBeLessThanOrEqual(closedAt.getTime());
    }
  });
});
