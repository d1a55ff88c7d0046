import * as superjson from 'superjson';
import { describe, expect, test } from 'vitest';
import { lockWaiters } from '../../../../test/support/locks.ts';
import { connect } from '../db/connect.ts';
import { queueNames } from '../queues/names.ts';
import { retrieveRun } from '../runs/retrieve/retrieve.ts';
import { cachedVersions } from '../versions/versions.ts';
import { setActive } from './activate.ts';
import { backfillSchedule } from './backfill.ts';
import { listSchedules } from './list.ts';
import { pruneRows } from '../app/testing/prune-rows.ts';
import { retrieveSchedule } from './retrieve.ts';
import { mortalEngine, testSchedules } from './testing/schedules.ts';
import { updateSchedule } from './update.ts';

const minute = 60_000;
/** A whole minute in the future, so that created schedules have their first tick right after it. */
const soon = (now: number): number => Math.ceil(now / minute) * minute + minute;

describe('a tick', () => {
  test('creates one run with the payload for its time, linked to its schedule', async () => {
    const fixture = await testSchedules();
    const base = soon(fixture.engine.clock.now());
    fixture.goTo(base + 100);
    const schedule = await fixture.create({
      cron: '* * * * *',
      timezone: 'Europe/Paris',
      externalId: 'user_1',
      deduplicationKey: 'reports',
    });
    await fixture.fire();
    expect(await fixture.ticks()).toEqual([]);

    fixture.goTo(base + minute + 5);
    await fixture.fire();
    fixture.goTo(base + 2 * minute + 5);
    await fixture.fire();
    await fixture.fire();
    const ticks = await fixture.ticks();
    expect(ticks.map((tick) => tick.nominal_at.getTime())).toEqual([base + minute, base + 2 * minute]);

    const runs = await fixture.sql<{ id: string; payload: string; payload_type: string }[]>`
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
    expect((await retrieveRun(fixture.engine, fixture.environment.id, runs[0]?.id ?? ''))?.schedule).toEqual({
      id: schedule.id,
      externalId: 'user_1',
      deduplicationKey: 'reports',
      generator: { type: 'CRON', expression: '* * * * *', description: 'Every minute' },
    });
  });

  test('passes the schedule to the runner, and records how late the run started', async () => {
    const fixture = await testSchedules();
    const base = soon(fixture.engine.clock.now());
    fixture.goTo(base + 100);
    const { id } = await fixture.create({ cron: '* * * * *' });
    fixture.goTo(base + minute + 5);
    await fixture.fire();
    fixture.goTo(base + minute + 250);
    await fixture.addRunner('runner_1');
    const current = await fixture.engine.versions.current(fixture.environment.id);
    const [row] = await fixture.sql<{ schedule_id: string }[]>`
      select schedule_id from claim_runs(${fixture.environment.id}, 'runner_1', '{0}', ${current?.id ?? 0}, 1, '(-1,0,)',
                                         ${new Date(fixture.engine.clock.now())})`;
    expect(row?.schedule_id).toBe(id);
    const { lag } = await retrieveSchedule(fixture.sql, fixture.environment, id);
    expect(lag?.runs).toBe(1);
    expect(lag?.lastMs).toBeGreaterThanOrEqual(250);
    expect(lag?.lastMs).toBeLessThan(2_000);
    const { data } = await listSchedules(fixture.sql, fixture.environment, {
      page: 1,
      perPage: 20,
      sort: 'created',
    });
    expect(data[0]?.lag).toEqual(lag);
  });

  test('starts at its position in the window, and shows both times', async () => {
    const fixture = await testSchedules();
    const base = soon(fixture.engine.clock.now());
    fixture.goTo(base + 100);
    const { next_nominal, next_at, id } = await fixture.create({ cron: '* * * * *', window: '1h' });
    expect(next_nominal?.getTime()).toBe(base + minute);
    const offset = (next_at?.getTime() ?? 0) - (next_nominal?.getTime() ?? 0);
    expect(offset).toBeGreaterThan(0);
    expect(offset).toBeLessThan(60 * minute);
    fixture.goTo(base + minute + offset - 1_000);
    await fixture.fire();
    expect(await fixture.ticks(id)).toEqual([]);
    fixture.goTo(base + minute + offset);
    await fixture.fire();
    expect((await fixture.ticks(id)).map((tick) => tick.nominal_at.getTime())).toEqual([base + minute]);
  });

  test('is fired by one of many concurrent servers', async () => {
    const fixture = await testSchedules();
    const base = soon(fixture.engine.clock.now());
    fixture.goTo(base + 100);
    await Promise.all(
      Array.from({ length: 40 }, () => fixture.create({ cron: '* * * * *', missed: 'all:1h' })),
    );
    fixture.goTo(base + 10 * minute + 5);
    await Promise.all([fixture.fire(), fixture.fire(), fixture.fire(), fixture.fire()]);
    expect(await fixture.ticks()).toHaveLength(400);
    const [runs] = await fixture.sql<{ count: number }[]>`select count(*)::int as count from runs`;
    expect(runs?.count).toBe(400);
  });

  test('is neither lost nor duplicated if the firing server dies at any point', async () => {
    const fixture = await testSchedules();
    const base = soon(fixture.engine.clock.now());
    fixture.goTo(base + 100);
    await Promise.all(
      (['allow', 'queue', 'cancel'] as const).map((overlap) =>
        fixture.create({ cron: '* * * * *', overlap }),
      ),
    );
    let deaths = 0;
    const mortal = mortalEngine(fixture.engine, () => Math.random() < 0.15 && ++deaths > 0);
    for (let n = 1; n <= 30; n++) {
      fixture.goTo(base + n * minute + 5);
      await Promise.all([fixture.fire(mortal).catch(() => {}), fixture.fire(mortal).catch(() => {})]);
      await fixture.fire();
    }
    expect(deaths).toBeGreaterThan(0);
    const ticks = await fixture.ticks();
    expect(ticks).toHaveLength(90);
    const [runs] = await fixture.sql<{ count: number }[]>`
      select count(distinct r.id)::int as count from runs r join schedule_ticks t on t.run_id = r.id`;
    expect(runs?.count).toBe(90);
    const [all] = await fixture.sql<{ count: number }[]>`select count(*)::int as count from runs`;
    expect(all?.count).toBe(90);
    expect(await fixture.skips()).toEqual([]);
  });
});

describe('skipped ticks', () => {
  test('a run that cannot be created skips the tick with a reason, and does not affect other schedules', async () => {
    const fixture = await testSchedules();
    const base = soon(fixture.engine.clock.now());
    fixture.goTo(base + 100);
    const created = [];
    for (let n = 0; n < 6; n++) created.push(await fixture.create({ cron: '* * * * *' }));
    const odd = created[2]!.id;
    await fixture.sql.unsafe(`
      create function refuse() returns trigger language plpgsql as $$ begin
        if new.schedule_id = '${odd}' then raise exception 'not this one'; end if; return new; end $$;
      create trigger refuse before insert on runs for each row execute function refuse()`);
    fixture.goTo(base + minute + 5);
    await fixture.fire();
    expect((await fixture.ticks()).map((tick) => tick.schedule_id).toSorted()).toEqual(
      created
        .map(({ id }) => id)
        .filter((id) => id !== odd)
        .toSorted(),
    );
    expect(await fixture.skips()).toMatchObject([{ schedule_id: odd, reason: 'failed' }]);
    // It continues with the next one.
    await fixture.sql`drop trigger refuse on runs`;
    fixture.goTo(base + 2 * minute + 5);
    await fixture.fire();
    expect(await fixture.ticks(odd)).toHaveLength(1);
    expect(await fixture.ticks()).toHaveLength(11);
  });

  test('a development environment without a runner skips its ticks with a reason', async () => {
    const fixture = await testSchedules('dev');
    const base = soon(fixture.engine.clock.now());
    fixture.goTo(base + 100);
    const { id } = await fixture.create({ cron: '* * * * *' });
    fixture.goTo(base + minute + 5);
    await fixture.fire();
    expect(await fixture.skips()).toMatchObject([{ schedule_id: id, reason: 'no_runner' }]);
    await fixture.addRunner('runner_1');
    fixture.goTo(base + 2 * minute + 5);
    await fixture.sql`update runners set expires_at = ${new Date(base + 5 * minute)}`;
    await fixture.fire();
    expect(await fixture.ticks()).toHaveLength(1);
  });

  test('a development environment waits for the next heartbeat of its runner after an outage of the database', async () => {
    const fixture = await testSchedules('dev');
    const { engine, sql } = fixture;
    const base = soon(engine.clock.now());
    const resume = (at: number) =>
      sql`update lease_watch set ticked_at = ${new Date(at)}, resumed_at = ${new Date(at)}, lease = interval '30 seconds'`;
    fixture.goTo(base + 100);
    const { id } = await fixture.create({ cron: '* * * * *' });
    await fixture.addRunner('runner_1');
    fixture.goTo(base + minute + 5_000);
    await resume(base + minute + 5_000);
    await fixture.fire();
    expect([await fixture.ticks(), await fixture.skips()]).toEqual([[], []]);
    await sql`update runners set heartbeat_at = ${new Date(base + minute + 6_000)}, expires_at = ${new Date(base + minute + 36_000)}`;
    await fixture.fire();
    expect(await fixture.ticks()).toHaveLength(1);

    // The next outage ends the runner as well.
    fixture.goTo(base + 2 * minute + 5_000);
    await resume(base + 2 * minute + 5_000);
    await fixture.fire();
    expect([await fixture.ticks(), await fixture.skips()]).toMatchObject([[{}], []]);
    fixture.goTo(base + 2 * minute + 35_000);
    await sql`update lease_watch set ticked_at = ${new Date(base + 2 * minute + 35_000)}`;
    await fixture.fire();
    expect(await fixture.skips()).toMatchObject([{ schedule_id: id, reason: 'no_runner' }]);
  });

  test('a task missing from the current version skips the tick with a reason', async () => {
    const fixture = await testSchedules();
    const base = soon(fixture.engine.clock.now());
    fixture.goTo(base + 100);
    await fixture.create({ cron: '* * * * *' });
    await fixture.register('plain');
    fixture.goTo(base + minute + 5);
    await fixture.fire();
    expect(await fixture.skips()).toMatchObject([{ reason: 'no_task' }]);
    expect(await fixture.ticks()).toEqual([]);
  });

  test('a version unknown to this process does not cause skipped ticks', async () => {
    const fixture = await testSchedules();
    const { engine, sql } = fixture;
    const base = soon(engine.clock.now());
    fixture.goTo(base + 100);
    const versions = cachedVersions(sql);
    await versions.current(fixture.environment.id);
    await fixture.register({ id: 'report', scheduled: true }, { id: 'fresh', scheduled: true });
    await fixture.create({ cron: '* * * * *', task: 'fresh' });
    fixture.goTo(base + minute + 5);
    await fixture.fire({ ...engine, versions });
    expect(await fixture.skips()).toEqual([]);
    expect(await fixture.ticks()).toHaveLength(1);
    expect(await sql`select from queued`).toHaveLength(1);
  });

  test('an inactive schedule does not fire; after activation it continues, and past ticks do not count as missed', async () => {
    const fixture = await testSchedules();
    const base = soon(fixture.engine.clock.now());
    fixture.goTo(base + 100);
    const { id } = await fixture.create({ cron: '* * * * *' });
    const off = await setActive(fixture.engine, fixture.environment.id, id, false);
    expect(off).toMatchObject({ active: false, next_at: null });
    fixture.goTo(base + 5 * minute + 5);
    await fixture.fire();
    const on = await setActive(fixture.engine, fixture.environment.id, id, true);
    expect(on.next_at?.getTime()).toBe(base + 6 * minute);
    expect(await setActive(fixture.engine, fixture.environment.id, id, true)).toMatchObject({
      next_at: on.next_at,
    });
    fixture.goTo(base + 6 * minute + 5);
    await fixture.fire();
    expect(await fixture.ticks()).toHaveLength(1);
    expect(await fixture.skips()).toEqual([]);
  });

  test('a time zone unknown to the runtime does not delay other schedules', async () => {
    const fixture = await testSchedules();
    const base = soon(fixture.engine.clock.now());
    fixture.goTo(base + 100);
    const broken = await fixture.create({ cron: '* * * * *' });
    const sound = await fixture.create({ cron: '* * * * *' });
    await fixture.sql`update schedules set timezone = 'Mars/Olympus' where id = ${broken.id}`;
    fixture.goTo(base + minute + 5);
    await fixture.fire();
    expect((await fixture.ticks()).map((tick) => tick.schedule_id)).toEqual([sound.id]);
    expect((await fixture.find(broken.id)).next_at).toBeNull();
  });
});

describe('overlap', () => {
  test('skip: ticks are skipped with a reason while the last run has not ended', async () => {
    const fixture = await testSchedules();
    const base = soon(fixture.engine.clock.now());
    fixture.goTo(base + 100);
    await fixture.create({ cron: '* * * * *', overlap: 'skip' });
    for (const n of [1, 2]) {
      fixture.goTo(base + n * minute + 5);
      await fixture.fire();
    }
    expect(await fixture.ticks()).toHaveLength(1);
    expect(await fixture.skips()).toMatchObject([
      { reason: 'overlap', from_at: new Date(base + 2 * minute) },
    ]);
    await fixture.sql`update runs set status = 'COMPLETED', finished_at = now()`;
    fixture.goTo(base + 3 * minute + 5);
    await fixture.fire();
    expect(await fixture.ticks()).toHaveLength(2);
  });

  test('skip: a run that another process has just created counts', async () => {
    const fixture = await testSchedules();
    const { engine, sql, database } = fixture;
    const base = soon(engine.clock.now());
    fixture.goTo(base + 100);
    await fixture.create({ cron: '* * * * *', overlap: 'skip' });
    fixture.goTo(base + minute + 5);
    // The other process sees the existing rows, and blocks before it takes the first one.
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
      const coming = fixture.fire(other);
      const standing = () =>
        sql`select from pg_stat_activity where datname = current_database() and wait_event = 'advisory'`;
      await expect.poll(standing, { timeout: 20_000 }).toHaveLength(1);
      await fixture.fire();
      expect(await fixture.ticks()).toHaveLength(1);
      return { firing: coming };
    });
    await firing;
    await others.end({ timeout: 1 });
    expect(await fixture.ticks()).toHaveLength(1);
    expect(await fixture.skips()).toMatchObject([
      { reason: 'overlap', from_at: new Date(base + 2 * minute) },
    ]);
  });

  test('cancel: a new run replaces the last one, waiting or executing', async () => {
    const fixture = await testSchedules();
    const base = soon(fixture.engine.clock.now());
    fixture.goTo(base + 100);
    await fixture.create({ cron: '* * * * *', overlap: 'cancel' });
    for (const n of [1, 2]) {
      fixture.goTo(base + n * minute + 5);
      await fixture.fire();
    }
    const [first, second] = await fixture.ticks();
    expect(await fixture.statusOf(first?.run_id ?? '')).toBe('CANCELED');
    const current = await fixture.engine.versions.current(fixture.environment.id);
    await fixture.addRunner('runner_1');
    const [attempt] = await fixture.claim('runner_1', [current?.id ?? 0], 1);
    expect(attempt?.run).toBe(second?.run_id);
    fixture.goTo(base + 3 * minute + 5);
    await fixture.fire();
    const [lease] = await fixture.sql`select cancel_requested from leases`;
    expect(lease).toEqual({ cancel_requested: true });
  });

  test('cancel: fires despite a conflict with a run of the tree that begins to wait', async () => {
    const fixture = await testSchedules();
    const env = fixture.environment.id;
    const base = soon(fixture.engine.clock.now());
    fixture.goTo(base + 100);
    await fixture.create({ cron: '* * * * *', overlap: 'cancel' });
    fixture.goTo(base + minute + 5);
    await fixture.fire();
    const current = await fixture.engine.versions.current(env);
    await fixture.addRunner('runner_1');
    const [attempt] = await fixture.claim('runner_1', [current?.id ?? 0], 1);
    const child = await fixture.trigger('plain', { parentRunId: attempt!.run });
    fixture.goTo(base + 2 * minute + 5);
    let fired: Promise<void> | undefined;
    await fixture.sql.begin(async (tx) => {
      // In the lock order of waits: the target first, the waiting attempt last.
      await tx`select from runs where env = ${env} and id = ${child.id} for update`;
      fired = fixture.fire();
      await expect
        .poll(async () => {
          const [row] = await fixture.sql`
            select from pg_stat_activity
             where datname = current_database() and wait_event_type = 'Lock' and query like '%cancel_runs%'`;
          return row !== undefined;
        })
        .toBe(true);
      await tx`select from leases where env = ${env} and run_id = ${attempt!.run} for update`;
    });
    await fired;
    expect(await fixture.ticks()).toHaveLength(2);
    expect(await fixture.statusOf(child.id)).toBe('CANCELED');
    const [lease] = await fixture.sql`select cancel_requested from leases`;
    expect(lease).toEqual({ cancel_requested: true });
  });

  test('queue: its runs execute one at a time, and runs of another schedule do not wait for them', async () => {
    const fixture = await testSchedules();
    const base = soon(fixture.engine.clock.now());
    fixture.goTo(base + 100);
    const schedule = await fixture.create({ cron: '* * * * *', overlap: 'queue' });
    const other = await fixture.create({ cron: '* * * * *', overlap: 'queue' });
    for (const n of [1, 2, 3]) {
      fixture.goTo(base + n * minute + 5);
      await fixture.fire();
    }
    const current = await fixture.engine.versions.current(fixture.environment.id);
    await fixture.addRunner('runner_1');
    const taken = await fixture.claim('runner_1', [current?.id ?? 0], 10);
    const ticks = await fixture.ticks();
    const runsOf = (id: string) => ticks.filter((tick) => tick.schedule_id === id).map((tick) => tick.run_id);
    expect(new Set(taken.map(({ run }) => run))).toEqual(
      new Set([runsOf(schedule.id)[0], runsOf(other.id)[0]]),
    );
    expect(taken).toHaveLength(2);
    await fixture.end(taken[0] as (typeof taken)[number]);
    expect(await fixture.claim('runner_1', [current?.id ?? 0], 10)).toHaveLength(1);
  });
});

describe('a change', () => {
  test('to the same settings does not lose a tick that is due at that moment', async () => {
    const fixture = await testSchedules();
    const base = soon(fixture.engine.clock.now());
    fixture.goTo(base + 100);
    await fixture.create({ cron: '* * * * *', deduplicationKey: 'k' });
    fixture.goTo(base + minute + 5);
    await fixture.create({ cron: ' *  * * * * ', deduplicationKey: 'k', externalId: 'other' });
    await fixture.fire();
    expect((await fixture.ticks()).map((tick) => tick.nominal_at.getTime())).toEqual([base + minute]);
  });

  test.each(['an update', 'a backfill'])(
    '%s needs one connection, and concurrent ones do not wait for each other',
    async (act) => {
      const fixture = await testSchedules();
      const { engine, sql, environment } = fixture;
      const { id: first } = await fixture.create({ cron: '* * * * *' });
      const { id: second } = await fixture.create({ cron: '* * * * *' });
      const others = connect(fixture.database, { name: 'other', max: 2 });
      const other = { ...engine, sql: others, versions: cachedVersions(others), queues: queueNames(others) };
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

  test('of the expression fires the ticks due by the old one first', async () => {
    const fixture = await testSchedules();
    const base = Math.ceil(fixture.engine.clock.now() / 3_600_000) * 3_600_000 + 3_600_000;
    fixture.goTo(base + 100);
    const { id } = await fixture.create({ cron: '0 * * * *' });
    fixture.goTo(base + 3_600_000 + 5);
    await updateSchedule(fixture.engine, fixture.environment.id, id, {
      task: 'report',
      cron: '*/10 * * * *',
    });
    await fixture.fire();
    expect((await fixture.ticks()).map((tick) => tick.nominal_at.getTime())).toEqual([base + 3_600_000]);
    expect((await fixture.find(id)).next_at?.getTime()).toBe(base + 3_600_000 + 10 * minute);
  });
});

describe('a backfill', () => {
  test('fires the ticks of a range that did not run, once, oldest first, in batches', async () => {
    const fixture = await testSchedules();
    const base = soon(fixture.engine.clock.now());
    fixture.goTo(base + 100);
    const { id } = await fixture.create({ cron: '* * * * *' });
    fixture.goTo(base + minute + 5);
    await fixture.fire();
    fixture.goTo(base + 10 * minute + 5);
    await fixture.fire();
    expect(await fixture.skips()).toHaveLength(1);

    const range = { from: new Date(base).toISOString(), to: new Date(base + 10 * minute + 1).toISOString() };
    const backfill = (max: number, from = range.from) =>
      backfillSchedule(fixture.engine, fixture.environment, id, { ...range, from, max });
    const first = await backfill(4);
    expect(first.runs.map(({ nominalAt }) => Date.parse(nominalAt))).toEqual(
      [0, 2, 3].map((n) => base + n * minute),
    );
    expect(first).toMatchObject({ alreadyRun: 1, next: new Date(base + 4 * minute).toISOString() });
    const rest = await backfill(1_000, first.next);
    expect(rest.runs).toHaveLength(6);
    expect(rest.next).toBeUndefined();
    expect(await backfill(1_000)).toMatchObject({ runs: [], alreadyRun: 11 });
    const [runs] = await fixture.sql<{ count: number }[]>`select count(*)::int as count from runs`;
    expect(runs?.count).toBe(11);
  });

  test('requires a range that is not empty, in the past, and not before 1970', async () => {
    const fixture = await testSchedules();
    const { id } = await fixture.create({ cron: '0 0 * * *' });
    const backfill = (from: string, to: string) =>
      backfillSchedule(fixture.engine, fixture.environment, id, { from, to, max: 1 });
    const epoch = '1970-01-01T00:00:00Z';
    for (const from of ['0000-01-01T00:00:00Z', '0001-01-01T00:00:00+14:00', '1969-12-31T23:59:59.999Z'])
      await expect(backfill(from, epoch), from).rejects.toMatchObject({
        status: 422,
        message: expect.stringContaining('must be in 1970 or later'),
      });
    await expect(backfill(epoch, epoch)).rejects.toMatchObject({
      status: 422,
      message: expect.stringContaining('before to'),
    });
    await expect(backfill(epoch, '2999-01-01T00:00:00Z')).rejects.toMatchObject({
      status: 422,
      message: expect.stringContaining('must not be in the future'),
    });
    expect((await backfill(epoch, '1970-01-02T00:00:00Z')).runs).toMatchObject([
      { nominalAt: '1970-01-01T00:00:00.000Z' },
    ]);
  });

  test('of a tick that is waiting in its window leaves nothing to fire', async () => {
    const fixture = await testSchedules();
    const base = soon(fixture.engine.clock.now());
    fixture.goTo(base + 100);
    const { id, next_at } = await fixture.create({ cron: '* * * * *', window: '24h' });
    fixture.goTo(base + 2 * minute);
    const range = {
      from: new Date(base + minute).toISOString(),
      to: new Date(base + 2 * minute).toISOString(),
    };
    expect(
      (await backfillSchedule(fixture.engine, fixture.environment, id, { ...range, max: 10 })).runs,
    ).toHaveLength(1);
    fixture.goTo((next_at?.getTime() ?? 0) + 5);
    await fixture.fire();
    expect(await fixture.ticks()).toHaveLength(1);
  });

  test('ends now, also if the clock of the caller is ahead by less than a minute', async () => {
    const fixture = await testSchedules();
    const now = soon(fixture.engine.clock.now());
    fixture.goTo(now - 30_000);
    const { id } = await fixture.create({ cron: '* * * * *' });
    const at = (time: number) => new Date(time).toISOString();
    const { runs, next } = await backfillSchedule(fixture.engine, fixture.environment, id, {
      from: at(now - 2 * minute),
      to: at(now + 20_000),
      max: 10,
    });
    expect(runs.map(({ nominalAt }) => nominalAt)).toEqual([at(now - 2 * minute), at(now - minute)]);
    expect(next).toBeUndefined();
  });

  test.each([
    ['an empty range', { from: 10, to: 10 }, /from: must be before to/],
    ['the future', { from: -10, to: 60 }, /must not be in the future/],
  ])('of %s is rejected', async (_, { from, to }, message) => {
    const fixture = await testSchedules();
    const { id } = await fixture.create({ cron: '* * * * *' });
    const now = fixture.engine.clock.now();
    const at = (minutes: number) => new Date(now + minutes * minute).toISOString();
    await expect(
      backfillSchedule(fixture.engine, fixture.environment, id, { from: at(from), to: at(to), max: 10 }),
    ).rejects.toThrow(message);
  });
});

test('tick records are deleted after their retention, and nothing fires again', async () => {
  const fixture = await testSchedules();
  const base = soon(fixture.engine.clock.now());
  fixture.goTo(base + 100);
  await fixture.create({ cron: '0 0 1 1 *' });
  const { id } = await fixture.create({ cron: '* * * * *' });
  fixture.goTo(base + 5 * minute + 5);
  await fixture.fire();
  expect([(await fixture.ticks()).length, (await fixture.skips()).length]).toEqual([1, 1]);
  await setActive(fixture.engine, fixture.environment.id, id, false);
  await pruneRows(fixture.engine);
  expect(await fixture.ticks()).toHaveLength(1);
  fixture.engine.clock.shift(30 * 86_400_000);
  await pruneRows(fixture.engine);
  expect([await fixture.ticks(), await fixture.skips()]).toEqual([[], []]);
  await fixture.fire();
  expect(await fixture.ticks()).toEqual([]);
});
