import { expect, test } from 'vitest';
import { testSchedules } from './testing/schedules.ts';
import { listTicks } from './ticks.ts';

const minute = 60_000;

test('ticks are returned with their run or the reason for its absence, newest first, in pages', async () => {
  const { engine, environment, sql, create, fire, goTo } = await testSchedules();
  const env = environment.id;
  const base = Math.ceil(engine.clock.now() / minute) * minute + minute;
  goTo(base + 100);
  const { id } = await create({ cron: '* * * * *', deduplicationKey: 'k' });
  const at = (n: number) => new Date(base + n * minute).toISOString();
  for (const n of [1, 2, 6]) {
    goTo(base + n * minute + 5);
    await fire();
  }
  await sql`
    insert into schedule_skips (env, schedule_id, from_at, until_at, reason, recorded_at)
    values (${env}, ${id}, ${at(-5)}, ${at(-3)}, 'overlap', now())`;
  const list = (query: Partial<Parameters<typeof listTicks>[3]> = {}) =>
    listTicks(engine, env, id, { 'page[size]': 50, ...query });
  const { data, pagination } = await list();
  expect(pagination).toEqual({});
  expect(data.at(-1)).toMatchObject({
    outcome: 'skipped',
    nominalAt: at(-5),
    untilAt: at(-3),
    reason: 'overlap',
  });
  const fired = data.filter((tick) => tick.outcome === 'fired');
  expect(fired.map((tick) => tick.nominalAt)).toEqual([at(6), at(2), at(1)]);
  expect(fired[0]).toMatchObject({
    status: 'QUEUED',
    backfilled: false,
    runId: expect.stringMatching(/^run_/),
  });
  expect(
    (await list({ 'filter[outcome]': 'skipped' })).data.every((tick) => tick.outcome === 'skipped'),
  ).toBe(true);

  const paged: typeof data = [];
  let after: Date | undefined;
  do {
    const page = await list({ 'page[size]': 1, ...(after && { 'page[after]': after }) });
    paged.push(...page.data);
    after = page.pagination.next === undefined ? undefined : new Date(page.pagination.next);
  } while (after);
  expect(paged).toEqual(data);
  await sql`delete from runs`;
  expect((await list({ 'filter[outcome]': 'fired' })).data[0]).not.toHaveProperty('status');
  await expect(listTicks(engine, env, 'sched_none', { 'page[size]': 1 })).rejects.toThrow(/not found/i);
});
