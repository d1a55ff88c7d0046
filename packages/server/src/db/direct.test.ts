import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { testDatabase } from '../../../../test/support/database.ts';
import { int4, int4s, text, texts, timestamp, uuid, uuids } from './binary.ts';
import { connect } from './connect.ts';
import { DatabaseLost } from './errors.ts';
import { Direct } from './direct.ts';

const name = 'test direct';

async function direct<Name extends string>(statements: Readonly<Record<Name, string>>) {
  const { connection, drop } = await testDatabase();
  const sql = connect(connection, { name: 'test', max: 1 });
  const line = new Direct(connection, { name }, statements);
  onTestFinished(async () => {
    await line.end({ timeout: 1 });
    await sql.end();
    await drop();
  });
  const cut = async () =>
    (await sql`select pg_terminate_backend(pid) from pg_stat_activity where application_name = ${name}`)
      .count;
  return { line, sql, cut };
}

describe('a parameter', () => {
  test('arrives as it was given, whatever its type', async () => {
    const { line } = await direct({
      echo: `select (extract(epoch from $1::timestamptz) * 1000)::bigint, $2::int, $3::uuid, $4::text,
                    to_json($5::int[]), to_json($6::uuid[]), to_json($7::text[])`,
    });
    const number = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
    const words = fc.string({ unit: 'binary', maxLength: 8 }).map((word) => word.replaceAll('\0', ''));
    const some = { minLength: 1, maxLength: 5 };
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 4_000_000_000_000 }),
        number,
        fc.uuid(),
        words,
        fc.array(number, some),
        fc.array(fc.uuid(), some),
        fc.array(words, some),
        async (ms, count, id, word, counts, ids, list) => {
          const [row] = await line.send('echo', [
            timestamp(ms),
            int4(count),
            uuid(id),
            text(word),
            int4s(counts),
            uuids(ids),
            texts(list),
          ]);
          expect(row?.slice(0, 4)).toEqual([String(ms), String(count), id, word]);
          expect(row?.slice(4).map((json) => JSON.parse(json ?? '') as unknown)).toEqual([counts, ids, list]);
        },
      ),
      { numRuns: 200 },
    );
    const long = 'ü'.repeat(500_000);
    expect(
      (
        await line.send('echo', [
          timestamp(0),
          int4(0),
          uuid(ids[0]),
          text(long),
          int4s([1]),
          uuids(ids),
          texts([long]),
        ])
      )[0]?.[3],
    ).toBe(long);
  });
});

const ids = ['00000000-0000-0000-0000-000000000001'] as const;

describe('a connection of its own', () => {
  test('goes on after a statement that failed, and answers none without rows with none', async () => {
    const { line } = await direct({ divide: 'select 10 / $1::int', none: 'select 1 where $1::int = 0' });
    await expect(line.send('divide', [int4(0)])).rejects.toMatchObject({ code: '22012' });
    expect(await line.send('divide', [int4(5)])).toEqual([['2']]);
    expect(await line.send('none', [int4(1)])).toEqual([]);
  });

  test('that is lost under a statement, or before one, says so and is made again', async () => {
    const { line, sql, cut } = await direct({
      one: 'select $1::int',
      slow: 'select 1 from pg_sleep($1::int)',
    });
    expect(await line.send('one', [int4(1)])).toEqual([['1']]);
    const slow = line.send('slow', [int4(60)]).catch((error: unknown) => error);
    const asleep = async () =>
      (await sql`select 1 from pg_stat_activity where application_name = ${name} and wait_event = 'PgSleep'`)
        .count;
    await expect.poll(asleep, { timeout: 20_000 }).toBe(1);
    await cut();
    expect(await slow).toBeInstanceOf(DatabaseLost);
    const again = () => line.send('one', [int4(2)]).catch((error: unknown) => error);
    await expect.poll(again, { timeout: 20_000 }).toEqual([['2']]);
    await cut();
    const first = await again();
    if (!Array.isArray(first)) expect(first).toBeInstanceOf(DatabaseLost);
    await expect.poll(again, { timeout: 20_000 }).toEqual([['2']]);
  });

  test('to nowhere is lost', async () => {
    const line = new Direct(
      { host: '/nowhere', database: 'none', username: 'nobody' },
      { name },
      { one: 'select 1' },
    );
    await expect(line.send('one', [])).rejects.toBeInstanceOf(DatabaseLost);
    await line.end({ timeout: 1 });
  });

  test('ends when its statement is done', async () => {
    const { line } = await direct({ slow: 'select $1::int from pg_sleep(0.3)' });
    const slow = line.send('slow', [int4(7)]);
    await line.end({ timeout: 20 });
    expect(await slow).toEqual([['7']]);
  });
});
