import { expect, test } from 'vitest';
import { testEngine } from '../testing/engine.ts';
import { rescuer } from './rescuer.ts';

test('a runner whose runs cannot be reclaimed does not prevent the rescue of others', async () => {
  const fixture = await testEngine();
  const { sql } = fixture;
  const { id } = await fixture.register('send');
  const [stuck, other] = [await fixture.trigger('send'), await fixture.trigger('send')];
  for (const runner of ['a', 'b']) {
    await fixture.addRunner(runner);
    await fixture.claim(runner, [id], 1);
  }
  await sql.unsafe(`
    create function refuse() returns trigger language plpgsql as $$ begin
      if new.id = '${stuck.id}' then raise exception 'not this one'; end if; return new; end $$;
    create trigger refuse before update on runs for each row execute function refuse()`);
  fixture.engine.clock.shift(31_000);
  await rescuer(fixture).tick();
  expect(await sql`select run_id from leases`).toEqual([{ run_id: stuck.id }]);
  expect(await sql`select run_id from queued`).toEqual([{ run_id: other.id }]);
});
