import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readPattern, tickAfter, type Tick } from './pattern.ts';
import { planTicks, type DueSchedule } from './plan.ts';
import { graceMs, readMissedRule } from './rules.ts';
import { cpuTimeOf } from '../../../../test/support/cpu-time.ts';
import { numRuns } from '../../../../test/support/long.ts';

const at = (text: string): number => Date.parse(`2026-03-10T${text}Z`);
const minutely = readPattern('sched_a', { cron: '* * * * *' });
const due = (changes: Partial<DueSchedule> = {}): DueSchedule => ({
  pattern: minutely,
  since: at('00:00:30'),
  first: at('00:01:00'),
  missed: readMissedRule('once'),
  overlap: 'allow',
  busy: false,
  stopped: undefined,
  ...changes,
});
const nominals = (ticks: readonly Tick[]) =>
  ticks.map(({ nominal }) => new Date(nominal).toISOString().slice(11, 16));
const ranges = (plan: ReturnType<typeof planTicks>) =>
  plan.skip.map(({ from, until, reason }) => [
    ...nominals([
      { nominal: from, due: 0 },
      { nominal: until, due: 0 },
    ]),
    reason,
  ]);

describe('a tick that is on time', () => {
  test('fires, and the next one follows', () => {
    const plan = planTicks(due(), at('00:01:00'), 10);
    expect(nominals(plan.fire)).toEqual(['00:01']);
    expect(plan.skip).toEqual([]);
    expect(plan.next?.nominal).toBe(at('00:02:00'));
  });

  test('fires within a minute of its time under every rule', () => {
    for (const rule of ['skip', 'once', 'all:1m']) {
      const plan = planTicks(due({ missed: readMissedRule(rule) }), at('00:02:00'), 10);
      expect(nominals(plan.fire)).toEqual(['00:01', '00:02']);
    }
  });
});

describe('missed ticks', () => {
  test.each([
    ['skip', at('01:00:30'), ['01:00'], [['00:01', '00:59', 'missed']]],
    ['once', at('01:00:30'), ['01:00'], [['00:01', '00:59', 'missed']]],
    ['all:4m', at('01:00:30'), ['00:57', '00:58', '00:59', '01:00'], [['00:01', '00:56', 'missed']]],
  ])('with the rule %s: ticks on time fire, and the others follow the rule', (rule, now, fired, skipped) => {
    const plan = planTicks(due({ missed: readMissedRule(rule) }), now, 10);
    expect(nominals(plan.fire)).toEqual(fired);
    expect(ranges(plan)).toEqual(skipped);
  });

  test.each([
    ['skip', [], [['01:00', '03:00', 'missed']]],
    ['once', ['03:00'], [['01:00', '02:00', 'missed']]],
    ['all:90m', ['02:00', '03:00'], [['01:00', '01:00', 'missed']]],
    ['all:1d', ['01:00', '02:00', '03:00'], []],
  ])('with nothing on time, %s', (rule, fired, skipped) => {
    const hourly = due({
      pattern: readPattern('sched_a', { cron: '0 * * * *' }),
      first: at('01:00:00'),
      missed: readMissedRule(rule),
    });
    const plan = planTicks(hourly, at('03:20:00'), 10);
    expect(nominals(plan.fire)).toEqual(fired);
    expect(ranges(plan)).toEqual(skipped);
    expect(plan.next?.nominal).toBe(at('04:00:00'));
  });

  test('fires a limited number at once; the rest remain due', () => {
    const plan = planTicks(due({ missed: readMissedRule('all:1h') }), at('00:30:00'), 10);
    expect(plan.fire).toHaveLength(10);
    expect(plan.next?.nominal).toBe(at('00:11:00'));
  });

  test('costs the same after ten years', () => {
    const old = due({ first: Date.parse('2016-01-01T00:00:00Z'), since: 0 });
    const time = cpuTimeOf(() => expect(planTicks(old, at('00:30:00'), 10).fire).toHaveLength(2));
    expect(time).toBeLessThan(500);
  });
});

describe('overlap', () => {
  test('skip: nothing fires before the run has ended, and only one of several at once', () => {
    const rule = { overlap: 'skip', missed: readMissedRule('all:1h') } as const;
    const busy = planTicks(due({ ...rule, busy: true }), at('00:03:00'), 10);
    expect(nominals(busy.fire)).toEqual([]);
    expect(ranges(busy)).toEqual([['00:01', '00:03', 'overlap']]);
    const idle = planTicks(due(rule), at('00:03:00'), 10);
    expect(nominals(idle.fire)).toEqual(['00:01']);
    expect(ranges(idle)).toEqual([['00:02', '00:03', 'overlap']]);
  });

  test('cancel: of several at once, only the last is started', () => {
    const plan = planTicks(due({ overlap: 'cancel', missed: readMissedRule('all:1h') }), at('00:03:00'), 10);
    expect(nominals(plan.fire)).toEqual(['00:03']);
    expect(ranges(plan)).toEqual([['00:01', '00:02', 'overlap']]);
  });
});

test('a tick of an earlier expression fires, and the new expression applies from the time of the change', () => {
  const changed = due({
    pattern: readPattern('sched_a', { cron: '*/10 * * * *' }),
    first: at('00:01:00'),
    since: at('00:05:00'),
  });
  const plan = planTicks(changed, at('00:21:00'), 10);
  expect(nominals(plan.fire)).toEqual(['00:20']);
  expect(ranges(plan)).toEqual([['00:01', '00:10', 'missed']]);
});

test('a stopped schedule skips all due ticks', () => {
  const plan = planTicks(due({ stopped: 'no_runner' }), at('00:03:00'), 10);
  expect(plan.fire).toEqual([]);
  expect(ranges(plan)).toEqual([['00:01', '00:03', 'no_runner']]);
  expect(plan.next?.nominal).toBe(at('00:04:00'));
});

/** Every tick separately, one after the other. */
function reference({ pattern, since, first, missed, busy, overlap }: DueSchedule, now: number) {
  const ticks: Tick[] = [];
  let tick = tickAfter(pattern, first - 1);
  for (; tick && tick.due <= now; tick = tickAfter(pattern, Math.max(tick.nominal, since))) ticks.push(tick);
  const late = (each: Tick) => each.due < now - missed.withinMs;
  const expected = ticks.filter((each) => !late(each));
  if (expected.length === 0 && missed.latest) expected.push(ticks.at(-1) as Tick);
  const fire =
    overlap === 'skip'
      ? busy
        ? []
        : expected.slice(0, 1)
      : overlap === 'cancel'
        ? expected.slice(-1)
        : expected;
  return { ticks, fire, next: tick };
}

test('agrees with a plan of every tick, for any pattern, window, rules and delay; each tick fires or is skipped once', () => {
  const arbitrary = fc.record({
    cron: fc.constantFrom(
      '* * * * *',
      '*/7 * * * *',
      '0 * * * *',
      '30 2 * * *',
      '0 0 * * 1',
      '15,45 1-3 * * *',
      '0 12 28 2 *',
    ),
    timezone: fc.constantFrom('UTC', 'America/Santiago', 'Europe/Paris', 'Australia/Lord_Howe'),
    window: fc.constantFrom(undefined, '0m', '10m', '24h', '50%', '100%'),
    id: fc.integer({ min: 0, max: 99 }).map((n) => `sched_${n}`),
    missed: fc.constantFrom('skip', 'once', 'all:5m', 'all:3h', 'all:2d'),
    overlap: fc.constantFrom('allow' as const, 'queue' as const, 'skip' as const, 'cancel' as const),
    busy: fc.boolean(),
    begin: fc.date({ min: new Date('2026-03-01'), max: new Date('2026-11-15'), noInvalidDate: true }),
    lateMs: fc.oneof(fc.integer({ min: 0, max: graceMs * 3 }), fc.integer({ min: 0, max: 3 * 86_400_000 })),
  });
  fc.assert(
    fc.property(arbitrary, ({ cron, timezone, window, id, missed, begin, lateMs, ...rest }) => {
      const pattern = readPattern(id, { cron, timezone, window });
      const since = begin.getTime();
      const first = tickAfter(pattern, since) as Tick;
      const now = first.due + lateMs;
      const schedule = {
        pattern,
        since,
        first: first.nominal,
        missed: readMissedRule(missed),
        stopped: undefined,
        ...rest,
      };
      const expected = reference(schedule, now);
      const plan = planTicks(schedule, now, 100_000);
      expect(plan.fire).toEqual(expected.fire);
      expect(plan.next).toEqual(expected.next);
      const covering = (nominal: number) =>
        plan.skip.filter(({ from, until }) => nominal >= from && nominal <= until).length +
        plan.fire.filter((tick) => tick.nominal === nominal).length;
      for (const { nominal } of expected.ticks) expect(covering(nominal)).toBe(1);
      for (const { from, until } of plan.skip) {
        expect(expected.ticks.some(({ nominal }) => nominal === from)).toBe(true);
        expect(expected.ticks.some(({ nominal }) => nominal === until)).toBe(true);
      }
    }),
    { numRuns: numRuns(400) },
  );
});
