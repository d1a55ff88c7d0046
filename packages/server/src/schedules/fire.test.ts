import * as superjson from 'superjson';
import { describe, expect, it } from 'vitest';
import { lockWaiters } from '../../../../test/support/locks.ts';
import { connect } from '../db/connect.ts';
import { queueNames } from '../queues/names.ts';
import { retrieveRun } from '../runs/retrieve.ts';
import { knownVersions } from '../workers/versions.ts';
import { setActive } from './activate.ts';
import { backfillSchedule } from './backfill.ts';
import { listSchedules } from './list.ts';
import { tickPruner, tickRetentionMs } from './prune.ts';
import { retrieveSchedule } from './retrieve.ts';
import { mortalEngine, testSchedules } from './testing/schedules.ts';
import { updateSchedule } from './update.ts';

const minute = 60_000;
/** A whole minute to come, so that created schedules have their first tick right after it. */
const soon = (now: number): number => Math.ceil(now / minute) * minute + minute;

describe('a tick', () => {
  it('makes one run with the payload of its time, which shows its schedule', async () => {
    const test = await testSchedules();
    const base = soon(test.engine.clock.now());
    test.goTo(base + 100);
    const schedule = await test.create({
      cron: '* * * * *',
      timezone: 'Europe/Paris',
      externalId: 'user_1',
      deduplicationKey: 'reports',
    });
    await test.fire();
    expect(await test.ticks()).toEqual([]);

    test.goTo(base + minute + 5);
    await test.fire();
    test.goTo(base + 2 * minute + 5);
    await test.fire();
    await test.fire();
    const ticks = await test.ticks();
    expect(ticks.map((tick) => tick.nominal_at.getTime())).toEqual([base + minute, base + 2 * minute]);

    const runs = await test.sql<{ id: string; payload: string; payload_type: string }[]>`
      select id, payload, payload_type from runs order by id`;
    expect(runs.map(({ id }) => id)).toEqual(ticks.map((tick) => tick.run_id));
    expect(runs[1]?.payload_type).toBe('application/super+json');
    expect(superjson.parse(runs[1]?.payload ?? '')).toEqual({
      scheduleId: schedule.id,
      type: 'IMPERATIVE',
      timestamp: new Date(base + 2 * minute),
      lastTimestamp: new Date(base + minute),
      timezone: 'Europe/Paris',
      externalId: 'user_1',
      upcoming: [3, 4, 5, 6, 7].map((n) => new Date(base + n * minute)),
    });
    expect(superjson.parse(runs[0]?.payload ?? '')).not.toHaveProperty('lastTimestamp');
    expect((await retrieveRun(test.engine, test.environment.id, runs[0]?.id ?? ''))?.schedule).toEqual({
      id: schedule.id,
      externalId: 'user_1',
      deduplicationKey: 'reports',
      generator: { type: 'CRON', expression: '* * * * *', description: 'Every minute' },
    });
  });

  it('tells the runner whose schedule it is, and how late the run started', async () => {
    const test = await testSchedules();
    const base = soon(test.engine.clock.now());
    test.goTo(base + 100);
    const { id } = await test.create({ cron: '* * * * *' });
    test.goTo(base + minute + 5);
    await test.fire();
    test.goTo(base + minute + 250);
    await test.addRunner('runner_1');
    const current = await test.engine.versions.current(test.environment.id);
    const [row] = await test.sql<{ schedule_id: string }[]>`
      select schedule_id from claim_runs(${test.environment.id}, 'runner_1', '{0}', ${current?.id ?? 0}, 1, -1,
                                         ${new Date(test.engine.clock.now())})`;
    expect(row?.schedule_id).toBe(id);
    const { lag } = await retrieveSchedule(test.sql, test.environment, id);
    expect(lag?.runs).toBe(1);
    expect(lag?.lastMs).toBeGreaterThanOrEqual(250);
    expect(lag?.lastMs).toBeLessThan(2_000);
    const { data } = await listSchedules(test.sql, test.environment, { page: 1, perPage: 20 });
    expect(data[0]?.lag).toEqual(lag);
  });

  it('starts at its place in the window, and shows both times', async () => {
    const test = await testSchedules();
    const base = soon(test.engine.clock.now());
    test.goTo(base + 100);
    const { next_nominal, next_at, id } = await test.create({ cron: '* * * * *', window: '1h' });
    expect(next_nominal?.getTime()).toBe(base + minute);
    const offset = (next_at?.getTime() ?? 0) - (next_nominal?.getTime() ?? 0);
    expect(offset).toBeGreaterThan(0);
    expect(offset).toBeLessThan(60 * minute);
    test.goTo(base + minute + offset - 1_000);
    await test.fire();
    expect(await test.ticks(id)).toEqual([]);
    test.goTo(base + minute + offset);
    await test.fire();
    expect((await test.ticks(id)).map((tick) => tick.nominal_at.getTime())).toEqual([base + minute]);
  });

  it('is fired by one of many who look at the same moment', async () => {
    const test = await testSchedules();
    const base = soon(test.engine.clock.now());
    test.goTo(base + 100);
    await Promise.all(Array.from({ length: 40 }, () => test.create({ cron: '* * * * *', missed: 'all:1h' })));
    test.goTo(base + 10 * minute + 5);
    await Promise.all([test.fire(), test.fire(), test.fire(), test.fire()]);
    expect(await test.ticks()).toHaveLength(400);
    const [runs] = await test.sql<{ count: number }[]>`select count(*)::int as count from runs`;
    expect(runs?.count).toBe(400);
  });

  it('is neither lost nor doubled when who fires it dies anywhere in between', async () => {
    const test = await testSchedules();
    const base = soon(test.engine.clock.now());
    test.goTo(base + 100);
    await Promise.all(
      (['allow', 'queue', 'cancel'] as const).map((overlap) => test.create({ cron: '* * * * *', overlap })),
    );
    let deaths = 0;
    const mortal = mortalEngine(test.engine, () => Math.random() < 0.15 && ++deaths > 0);
    for (let n = 1; n <= 30; n++) {
      test.goTo(base + n * minute + 5);
      await Promise.all([test.fire(mortal).catch(() => {}), test.fire(mortal).catch(() => {})]);
      await test.fire();
    }
    expect(deaths).toBeGreaterThan(0);
    const ticks = await test.ticks();
    expect(ticks).toHaveLength(90);
    const [runs] = await test.sql<{ count: number }[]>`
      select count(distinct r.id)::int as count from runs r join schedule_ticks t on t.run_id = r.id`;
    expect(runs?.count).toBe(90);
    const [all] = await test.sql<{ count: number }[]>`select count(*)::int as count from runs`;
    expect(all?.count).toBe(90);
    expect(await test.skips()).toEqual([]);
  });
});

describe('what stops a schedule', () => {
  it('a run that cannot be made skips the tick, says so, and keeps no other schedule from firing', async () => {
    const test = await testSchedules();
    const base = soon(test.engine.clock.now());
    test.goTo(base + 100);
    const made = [];
    for (let n = 0; n < 6; n++) made.push(await test.create({ cron: '* * * * *' }));
    const odd = made[2]!.id;
    await test.sql.unsafe(`
      create function refuse() returns trigger language plpgsql as $$ begin
        if new.schedule_id = '${odd}' then raise exception 'not this one'; end if; return new; end $$;
      create trigger refuse before insert on runs for each row execute function refuse()`);
    test.goTo(base + minute + 5);
    await test.fire();
    expect((await test.ticks()).map((tick) => tick.schedule_id).toSorted()).toEqual(
      made
        .map(({ id }) => id)
        .filter((id) => id !== odd)
        .toSorted(),
    );
    expect(await test.skips()).toMatchObject([{ schedule_id: odd, reason: 'failed' }]);
    // It goes on with the next one.
    await test.sql`drop trigger refuse on runs`;
    test.goTo(base + 2 * minute + 5);
    await test.fire();
    expect(await test.ticks(odd)).toHaveLength(1);
    expect(await test.ticks()).toHaveLength(11);
  });

  it('a development environment without a runner skips its ticks, and says so', async () => {
    const test = await testSchedules('dev');
    const base = soon(test.engine.clock.now());
    test.goTo(base + 100);
    const { id } = await test.create({ cron: '* * * * *' });
    test.goTo(base + minute + 5);
    await test.fire();
    expect(await test.skips()).toMatchObject([{ schedule_id: id, reason: 'no_runner' }]);
    await test.addRunner('runner_1');
    test.goTo(base + 2 * minute + 5);
    await test.sql`update runners set expires_at = ${new Date(base + 5 * minute)}`;
    await test.fire();
    expect(await test.ticks()).toHaveLength(1);
  });

  it('a task that the current version lacks skips the tick, and says so', async () => {
    const test = await testSchedules();
    const base = soon(test.engine.clock.now());
    test.goTo(base + 100);
    await test.create({ cron: '* * * * *' });
    await test.register('plain');
    test.goTo(base + minute + 5);
    await test.fire();
    expect(await test.skips()).toMatchObject([{ reason: 'no_task' }]);
    expect(await test.ticks()).toEqual([]);
  });

  it('not a version that this process has not heard of yet', async () => {
    const test = await testSchedules();
    const { engine, sql } = test;
    const base = soon(engine.clock.now());
    test.goTo(base + 100);
    const versions = knownVersions(sql);
    await versions.current(test.environment.id);
    await test.register({ id: 'report', scheduled: true }, { id: 'fresh', scheduled: true });
    await test.create({ cron: '* * * * *', task: 'fresh' });
    test.goTo(base + minute + 5);
    await test.fire({ ...engine, versions });
    expect(await test.skips()).toEqual([]);
    expect(await test.ticks()).toHaveLength(1);
    expect(await sql`select from queued`).toHaveLength(1);
  });

  it('deactivated it does not fire; activated it goes on from there, and what passed was not missed', async () => {
    const test = await testSchedules();
    const base = soon(test.engine.clock.now());
    test.goTo(base + 100);
    const { id } = await test.create({ cron: '* * * * *' });
    const off = await setActive(test.engine, test.environment.id, id, false);
    expect(off).toMatchObject({ active: false, next_at: null });
    test.goTo(base + 5 * minute + 5);
    await test.fire();
    const on = await setActive(test.engine, test.environment.id, id, true);
    expect(on.next_at?.getTime()).toBe(base + 6 * minute);
    expect(await setActive(test.engine, test.environment.id, id, true)).toMatchObject({
      next_at: on.next_at,
    });
    test.goTo(base + 6 * minute + 5);
    await test.fire();
    expect(await test.ticks()).toHaveLength(1);
    expect(await test.skips()).toEqual([]);
  });

  it('a zone that the runtime has lost holds up nobody else', async () => {
    const test = await testSchedules();
    const base = soon(test.engine.clock.now());
    test.goTo(base + 100);
    const broken = await test.create({ cron: '* * * * *' });
    const sound = await test.create({ cron: '* * * * *' });
    await test.sql`update schedules set timezone = 'Mars/Olympus' where id = ${broken.id}`;
    test.goTo(base + minute + 5);
    await test.fire();
    expect((await test.ticks()).map((tick) => tick.schedule_id)).toEqual([sound.id]);
    expect((await test.find(broken.id)).next_at).toBeNull();
  });
});

describe('overlap', () => {
  it('skip: while its last run is not over, ticks are skipped and say so', async () => {
    const test = await testSchedules();
    const base = soon(test.engine.clock.now());
    test.goTo(base + 100);
    await test.create({ cron: '* * * * *', overlap: 'skip' });
    for (const n of [1, 2]) {
      test.goTo(base + n * minute + 5);
      await test.fire();
    }
    expect(await test.ticks()).toHaveLength(1);
    expect(await test.skips()).toMatchObject([{ reason: 'overlap', from_at: new Date(base + 2 * minute) }]);
    await test.sql`update runs set status = 'COMPLETED', finished_at = now()`;
    test.goTo(base + 3 * minute + 5);
    await test.fire();
    expect(await test.ticks()).toHaveLength(2);
  });

  it('skip: a run that another process has just made counts', async () => {
    const test = await testSchedules();
    const { engine, sql, database } = test;
    const base = soon(engine.clock.now());
    test.goTo(base + 100);
    await test.create({ cron: '* * * * *', overlap: 'skip' });
    test.goTo(base + minute + 5);
    // The other process sees what there is, and stands before it takes the first row.
    await sql.unsafe(`
      create function gate() returns boolean language plpgsql as $$ begin
        if current_setting('application_name') = 'other' then perform pg_advisory_xact_lock_shared(1); end if;
        return true; end $$;
      alter table schedules rename to all_schedules;
      create view schedules as select * from all_schedules where gate()`);
    const others = connect(database, { name: 'other', max: 2 });
    const other = { ...engine, sql: others, clock: { ...engine.clock, now: () => base + 2 * minute + 5 } };
    const { firing } = await sql.begin(async (tx) => {
      await tx`select pg_advisory_xact_lock(1)`;
      const coming = test.fire(other);
      const standing = () =>
        sql`select from pg_stat_activity where datname = current_database() and wait_event = 'advisory'`;
      await expect.poll(standing, { timeout: 20_000 }).toHaveLength(1);
      await test.fire();
      expect(await test.ticks()).toHaveLength(1);
      return { firing: coming };
    });
    await firing;
    await others.end({ timeout: 1 });
    expect(await test.ticks()).toHaveLength(1);
    expect(await test.skips()).toMatchObject([{ reason: 'overlap', from_at: new Date(base + 2 * minute) }]);
  });

  it('cancel: a new run takes the place of the last one, waiting or executing', async () => {
    const test = await testSchedules();
    const base = soon(test.engine.clock.now());
    test.goTo(base + 100);
    await test.create({ cron: '* * * * *', overlap: 'cancel' });
    for (const n of [1, 2]) {
      test.goTo(base + n * minute + 5);
      await test.fire();
    }
    const [first, second] = await test.ticks();
    expect(await test.statusOf(first?.run_id ?? '')).toBe('CANCELED');
    const current = await test.engine.versions.current(test.environment.id);
    await test.addRunner('runner_1');
    const [attempt] = await test.claim('runner_1', [current?.id ?? 0], 1);
    expect(attempt?.run).toBe(second?.run_id);
    test.goTo(base + 3 * minute + 5);
    await test.fire();
    const [lease] = await test.sql`select cancel_requested from leases`;
    expect(lease).toEqual({ cancel_requested: true });
  });

  it('cancel: fires all the same when it met a run of the tree that begins to wait', async () => {
    const test = await testSchedules();
    const env = test.environment.id;
    const base = soon(test.engine.clock.now());
    test.goTo(base + 100);
    await test.create({ cron: '* * * * *', overlap: 'cancel' });
    test.goTo(base + minute + 5);
    await test.fire();
    const current = await test.engine.versions.current(env);
    await test.addRunner('runner_1');
    const [attempt] = await test.claim('runner_1', [current?.id ?? 0], 1);
    const child = await test.trigger('plain', { parentRunId: attempt!.run });
    test.goTo(base + 2 * minute + 5);
    let fired: Promise<void> | undefined;
    await test.sql.begin(async (tx) => {
      // In the order of waits: what is waited for first, the waiting attempt last.
      await tx`select from runs where env = ${env} and id = ${child.id} for update`;
      fired = test.fire();
      await expect
        .poll(async () => {
          const [row] = await test.sql`
            select from pg_stat_activity
             where datname = current_database() and wait_event_type = 'Lock' and query like '%cancel_runs%'`;
          return row !== undefined;
        })
        .toBe(true);
      await tx`select from leases where env = ${env} and run_id = ${attempt!.run} for update`;
    });
    await fired;
    expect(await test.ticks()).toHaveLength(2);
    expect(await test.statusOf(child.id)).toBe('CANCELED');
    const [lease] = await test.sql`select cancel_requested from leases`;
    expect(lease).toEqual({ cancel_requested: true });
  });

  it('queue: its runs execute one after the other, those of another schedule do not wait for them', async () => {
    const test = await testSchedules();
    const base = soon(test.engine.clock.now());
    test.goTo(base + 100);
    const one = await test.create({ cron: '* * * * *', overlap: 'queue' });
    const other = await test.create({ cron: '* * * * *', overlap: 'queue' });
    for (const n of [1, 2, 3]) {
      test.goTo(base + n * minute + 5);
      await test.fire();
    }
    const current = await test.engine.versions.current(test.environment.id);
    await test.addRunner('runner_1');
    const taken = await test.claim('runner_1', [current?.id ?? 0], 10);
    const ticks = await test.ticks();
    const runsOf = (id: string) => ticks.filter((tick) => tick.schedule_id === id).map((tick) => tick.run_id);
    expect(new Set(taken.map(({ run }) => run))).toEqual(new Set([runsOf(one.id)[0], runsOf(other.id)[0]]));
    expect(taken).toHaveLength(2);
    await test.end(taken[0] as (typeof taken)[number]);
    expect(await test.claim('runner_1', [current?.id ?? 0], 10)).toHaveLength(1);
  });
});

describe('a change', () => {
  it('that is none loses no tick that is due at that moment', async () => {
    const test = await testSchedules();
    const base = soon(test.engine.clock.now());
    test.goTo(base + 100);
    await test.create({ cron: '* * * * *', deduplicationKey: 'k' });
    test.goTo(base + minute + 5);
    await test.create({ cron: ' *  * * * * ', deduplicationKey: 'k', externalId: 'other' });
    await test.fire();
    expect((await test.ticks()).map((tick) => tick.nominal_at.getTime())).toEqual([base + minute]);
  });

  it.each(['an update', 'a backfill'])(
    '%s needs one connection, and many at once wait for no other',
    async (act) => {
      const test = await testSchedules();
      const { engine, sql, environment } = test;
      const { id: first } = await test.create({ cron: '* * * * *' });
      const { id: second } = await test.create({ cron: '* * * * *' });
      const others = connect(test.database, { name: 'other', max: 2 });
      const other = { ...engine, sql: others, versions: knownVersions(others), queues: queueNames(others) };
      const past = Math.floor(engine.clock.now() / minute) * minute;
      const range = {
        from: new Date(past - minute).toISOString(),
        to: new Date(past).toISOString(),
        max: 10,
      };
      const begin = (id: string) =>
        act === 'an update'
          ? updateSchedule(other, environment.id, id, { cron: '0 * * * *', task: 'report' })
          : backfillSchedule(other, environment, id, range);
      const { coming } = await sql.begin(async (tx) => {
        await tx`select from schedules for update`;
        const both = Promise.all([begin(first), begin(second)]);
        const waiting = () => lockWaiters(sql);
        await expect.poll(waiting, { timeout: 20_000 }).toHaveLength(2);
        return { coming: both };
      });
      expect(await coming).toHaveLength(2);
      await others.end({ timeout: 1 });
    },
  );

  it('of the expression fires what was due by the old one, then begins', async () => {
    const test = await testSchedules();
    const base = Math.ceil(test.engine.clock.now() / 3_600_000) * 3_600_000 + 3_600_000;
    test.goTo(base + 100);
    const { id } = await test.create({ cron: '0 * * * *' });
    test.goTo(base + 3_600_000 + 5);
    await updateSchedule(test.engine, test.environment.id, id, { task: 'report', cron: '*/10 * * * *' });
    await test.fire();
    expect((await test.ticks()).map((tick) => tick.nominal_at.getTime())).toEqual([base + 3_600_000]);
    expect((await test.find(id)).next_at?.getTime()).toBe(base + 3_600_000 + 10 * minute);
  });
});

describe('a backfill', () => {
  it('runs the ticks of a range that were not run, once, oldest first, in pieces', async () => {
    const test = await testSchedules();
    const base = soon(test.engine.clock.now());
    test.goTo(base + 100);
    const { id } = await test.create({ cron: '* * * * *' });
    test.goTo(base + minute + 5);
    await test.fire();
    test.goTo(base + 10 * minute + 5);
    await test.fire();
    expect(await test.skips()).toHaveLength(1);

    const range = { from: new Date(base).toISOString(), to: new Date(base + 10 * minute + 1).toISOString() };
    const backfill = (max: number, from = range.from) =>
      backfillSchedule(test.engine, test.environment, id, { ...range, from, max });
    const first = await backfill(4);
    expect(first.runs.map(({ nominalAt }) => Date.parse(nominalAt))).toEqual(
      [0, 2, 3].map((n) => base + n * minute),
    );
    expect(first).toMatchObject({ alreadyRun: 1, next: new Date(base + 4 * minute).toISOString() });
    const rest = await backfill(1_000, first.next);
    expect(rest.runs).toHaveLength(6);
    expect(rest.next).toBeUndefined();
    expect(await backfill(1_000)).toMatchObject({ runs: [], alreadyRun: 11 });
    const [runs] = await test.sql<{ count: number }[]>`select count(*)::int as count from runs`;
    expect(runs?.count).toBe(11);
  });

  it('is of a range that is there, is past and is not before 1970', async () => {
    const test = await testSchedules();
    const { id } = await test.create({ cron: '0 0 * * *' });
    const backfill = (from: string, to: string) =>
      backfillSchedule(test.engine, test.environment, id, { from, to, max: 1 });
    const epoch = '1970-01-01T00:00:00Z';
    for (const from of ['0000-01-01T00:00:00Z', '0001-01-01T00:00:00+14:00', '1969-12-31T23:59:59.999Z'])
      await expect(backfill(from, epoch), from).rejects.toMatchObject({
        status: 422,
        message: expect.stringContaining('write a later from'),
      });
    await expect(backfill(epoch, epoch)).rejects.toMatchObject({
      status: 422,
      message: expect.stringContaining('before to'),
    });
    await expect(backfill(epoch, '2999-01-01T00:00:00Z')).rejects.toMatchObject({
      status: 422,
      message: expect.stringContaining('an earlier one'),
    });
    expect((await backfill(epoch, '1970-01-02T00:00:00Z')).runs).toMatchObject([
      { nominalAt: '1970-01-01T00:00:00.000Z' },
    ]);
  });

  it('of a tick that waits in its window leaves nothing to fire', async () => {
    const test = await testSchedules();
    const base = soon(test.engine.clock.now());
    test.goTo(base + 100);
    const { id, next_at } = await test.create({ cron: '* * * * *', window: '24h' });
    test.goTo(base + 2 * minute);
    const range = {
      from: new Date(base + minute).toISOString(),
      to: new Date(base + 2 * minute).toISOString(),
    };
    expect(
      (await backfillSchedule(test.engine, test.environment, id, { ...range, max: 10 })).runs,
    ).toHaveLength(1);
    test.goTo((next_at?.getTime() ?? 0) + 5);
    await test.fire();
    expect(await test.ticks()).toHaveLength(1);
  });

  it.each([
    ['an empty range', { from: 10, to: 10 }, /write a from that is before to/],
    ['the future', { from: -10, to: 60 }, /write that time or an earlier one/],
  ])('of %s is refused', async (_, { from, to }, message) => {
    const test = await testSchedules();
    const { id } = await test.create({ cron: '* * * * *' });
    const now = test.engine.clock.now();
    const at = (minutes: number) => new Date(now + minutes * minute).toISOString();
    await expect(
      backfillSchedule(test.engine, test.environment, id, { from: at(from), to: at(to), max: 10 }),
    ).rejects.toThrow(message);
  });
});

it('what became of ticks is forgotten after its retention, and nothing fires again', async () => {
  const test = await testSchedules();
  const base = soon(test.engine.clock.now());
  test.goTo(base + 100);
  await test.create({ cron: '0 0 1 1 *' });
  const { id } = await test.create({ cron: '* * * * *' });
  test.goTo(base + 5 * minute + 5);
  await test.fire();
  expect([(await test.ticks()).length, (await test.skips()).length]).toEqual([1, 1]);
  await setActive(test.engine, test.environment.id, id, false);
  await tickPruner(test.engine).round();
  expect(await test.ticks()).toHaveLength(1);
  test.engine.clock.shift(tickRetentionMs);
  await tickPruner(test.engine).round();
  expect([await test.ticks(), await test.skips()]).toEqual([[], []]);
  await test.fire();
  expect(await test.ticks()).toEqual([]);
});
