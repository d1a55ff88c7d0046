import { describe, expect, onTestFinished, test } from 'vitest';
import { testDatabase } from '../../../../test/support/database.ts';
import { connect } from './connect.ts';
import { DatabaseLost } from './errors.ts';
import { DedicatedConnection } from './dedicated.ts';

const name = 'test dedicated';

async function dedicated<Name extends string>(statements: Readonly<Record<Name, string>>) {
  const { connection, drop } = await testDatabase();
  const sql = connect(connection, { name: 'test', max: 1 });
  const line = new DedicatedConnection(connection, { name }, statements);
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

describe('a dedicated connection', () => {
  test('continues after a failed statement, and returns an empty result', async () => {
    const { line } = await dedicated({ divide: 'select 10 / $1::int', none: 'select 1 where $1::int = 0' });
    await expect(line.send('divide', [0])).rejects.toMatchObject({ code: '22012' });
    expect(await line.send('divide', [5])).toEqual([['2']]);
    expect(await line.send('none', [1])).toEqual([]);
  });

  test('that is lost before or during a statement rejects with DatabaseLost and is reopened', async () => {
    const { line, sql, cut } = await dedicated({
      first: 'select $1::int',
      slow: 'select 1 from pg_sleep($1::int)',
    });
    expect(await line.send('first', [1])).toEqual([['1']]);
    const slow = line.send('slow', [60]).catch((error: unknown) => error);
    const asleep = async () =>
      (await sql`select 1 from pg_stat_activity where application_name = ${name} and wait_event = 'PgSleep'`)
        .count;
    await expect.poll(asleep, { timeout: 20_000 }).toBe(1);
    await cut();
    expect(await slow).toBeInstanceOf(DatabaseLost);
    const again = () => line.send('first', [2]).catch((error: unknown) => error);
    await expect.poll(again, { timeout: 20_000 }).toEqual([['2']]);
    await cut();
    const first = await again();
    if (!Array.isArray(first)) expect(first).toBeInstanceOf(DatabaseLost);
    await expect.poll(again, { timeout: 20_000 }).toEqual([['2']]);
  });

  test('to an unreachable server rejects with DatabaseLost', async () => {
    const line = new DedicatedConnection(
      { host: '/nowhere', database: 'none', username: 'nobody' },
      { name },
      { first: 'select 1' },
    );
    await expect(line.send('first', [])).rejects.toBeInstanceOf(DatabaseLost);
    await line.end({ timeout: 1 });
  });

  test('ends after the current statement', async () => {
    const { line } = await dedicated({ slow: 'select $1::int from pg_sleep(0.3)' });
    const slow = line.send('slow', [7]);
    await line.end({ timeout: 20 });
    expect(await slow).toEqual([['7']]);
  });
});
