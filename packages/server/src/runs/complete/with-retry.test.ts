import { expect, test } from 'vitest';
import { completeWithRetry } from './with-retry.ts';
import { testEngine } from '../testing/engine.ts';

/** One live attempt, in a database that rejects its end with this PostgreSQL code, if the condition holds. */
async function refusing(code: string, when = 'true') {
  const t = await testEngine();
  const version = await t.register('send');
  await t.addRunner('r1');
  const { id } = await t.trigger('send');
  const [attempt] = await t.claim('r1', [version.id], 1);
  await t.sql.unsafe(`
    create function refuse() returns trigger language plpgsql as $$
    begin
      if ${when} then raise exception 'refused' using errcode = '${code}'; end if;
      return new;
    end $$;
    create trigger refuse before update of status on runs for each row execute function refuse()`);
  const warned: string[] = [];
  const engine = { ...t.engine, log: { ...t.engine.log, warn: (event: string) => void warned.push(event) } };
  const dependencies = { engine, complete: t.complete, isOver: () => false };
  const outcome = { kind: 'completed', output: '1', outputType: 'application/json' } as const;
  const completion = completeWithRetry(dependencies, {
    env: t.environment.id,
    task: 'send',
    ...attempt!,
    outcome,
  });
  const stored = async () => {
    const [row] = await t.sql`select status, output, error ->> 'code' as code from runs where id = ${id}`;
    return row;
  };
  return { ...t, completion, stored, warned };
}

test.each([
  ['disk space', '53100'],
  ['memory', '53200'],
  ['a writable database', '25006'],
])('a result waits for %s, and is not lost', async (_, code) => {
  const { sql, completion, stored, warned } = await refusing(code);
  await expect.poll(() => warned.length, { timeout: 20_000 }).toBeGreaterThan(1);
  expect(await stored()).toMatchObject({ status: null });
  await sql`drop trigger refuse on runs`;
  expect(await completion).toMatchObject({ stale: false });
  expect(await stored()).toEqual({ status: 'COMPLETED', output: '1', code: null });
});

test('a result that can never be stored ends its run with an error about it', async () => {
  const { completion, stored } = await refusing('22000', 'new.output is not null');
  expect(await completion).toMatchObject({ stale: false });
  expect(await stored()).toEqual({ status: 'SYSTEM_FAILURE', output: null, code: 'RESULT_NOT_STORED' });
});
