import { expect, it } from 'vitest';
import { testEngine } from '../runs/testing/engine.ts';
import { defaultRetention, duties } from './duties.ts';

it('a runner whose runs cannot be taken back keeps no other from being rescued', async () => {
  const test = await testEngine();
  const { sql } = test;
  const { id } = await test.register('send');
  const [stuck, other] = [await test.trigger('send'), await test.trigger('send')];
  for (const runner of ['a', 'b']) {
    await test.addRunner(runner);
    await test.claim(runner, [id], 1);
  }
  await sql.unsafe(`
    create function refuse() returns trigger language plpgsql as $$ begin
      if new.id = '${stuck.id}' then raise exception 'not this one'; end if; return new; end $$;
    create trigger refuse before update on runs for each row execute function refuse()`);
  const rescuer = duties(test, defaultRetention).find(({ name }) => name === 'rescuer');
  test.engine.clock.shift(31_000);
  await rescuer!.round();
  expect(await sql`select run_id from leases`).toEqual([{ run_id: stuck.id }]);
  expect(await sql`select run_id from queued`).toEqual([{ run_id: other.id }]);
});
