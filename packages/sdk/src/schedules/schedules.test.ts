import { afterAll, afterEach, beforeAll, describe, expect, expectTypeOf, test } from 'vitest';
import * as superjson from 'superjson';
import { execute } from '../executor/execute.ts';
import { manifestOf } from '../executor/manifest.ts';
import { configure, NotFoundError, schedules, type Schedule, type ScheduledTaskPayload } from '../index.ts';
import { assignmentOf, environment } from '../testing/assignment.ts';
import { startServer, type Answer, type HttpServer } from '../testing/http-server.ts';

const wire = {
  id: 'sched_1',
  type: 'IMPERATIVE',
  task: 'report',
  active: true,
  generator: { type: 'CRON', expression: '0 0 * * *', description: 'At 12:00 AM' },
  timezone: 'UTC',
  missed: 'once',
  overlap: 'allow',
  nextRun: '2026-11-22T00:00:00.000Z',
  nextRunEffectiveAt: null,
  environments: [],
};

let server: HttpServer;
let answer: (path: string) => Answer = () => ({ body: wire });
beforeAll(async () => {
  server = await startServer(({ path }) => answer(path));
  configure({ baseURL: server.url, secretKey: 'k', retry: { maxAttempts: 1 } });
});
afterAll(() => server.close());
afterEach(() => {
  server.received.length = 0;
  answer = () => ({ body: wire });
});
const requests = () => server.received.map(({ method, path, body }) => [method, path, body]);

test('create and update send the settings unchanged and return dates', async () => {
  const settings = {
    task: 'report',
    cron: '0 0 * * *',
    missed: 'all:6h',
    overlap: 'skip',
    window: '15m',
  } as const;
  const created = await schedules.create({ ...settings, deduplicationKey: 'k' });
  expect(created.nextRun).toEqual(new Date('2026-11-22T00:00:00Z'));
  expect(created.nextRunEffectiveAt).toBeNull();
  await schedules.update(created, settings);
  expect(requests()).toEqual([
    ['POST', '/api/v1/schedules', { ...settings, deduplicationKey: 'k' }],
    ['PUT', '/api/v1/schedules/sched_1', settings],
  ]);
});

test('a schedule is named by its id, its key or itself', async () => {
  await schedules.retrieve('sched_1');
  await schedules.activate({ id: 'sched_1' });
  await schedules.deactivate('mine/a b');
  await schedules.del('sched_1');
  expect(requests().map(([method, path]) => `${method as string} ${path as string}`)).toEqual([
    'GET /api/v1/schedules/sched_1',
    'POST /api/v1/schedules/sched_1/activate',
    'POST /api/v1/schedules/mine%2Fa%20b/deactivate',
    'DELETE /api/v1/schedules/sched_1',
  ]);
  await expect(schedules.retrieve('')).rejects.toThrow(/Pass the id/);
});

test('list goes through the pages in both directions', async () => {
  answer = (path) => {
    const page = Number(new URL(path, 'http://x').searchParams.get('page'));
    const data = [{ ...wire, id: `sched_${page}` }];
    return { body: { data, pagination: { currentPage: page, totalPages: 3, count: 3 } } };
  };
  const ids: string[] = [];
  for await (const schedule of schedules.list({ perPage: 1 })) ids.push(schedule.id);
  expect(ids).toEqual(['sched_1', 'sched_2', 'sched_3']);
  const second = await schedules.list({ page: 2, perPage: 1 });
  expect((await second.getPreviousPage()).data[0]?.id).toBe('sched_1');
  const third = await second.getNextPage();
  expect([third.data[0]?.id, third.hasNextPage()]).toEqual(['sched_3', false]);
});

test('preview, backfill and timezones send their options and return dates', async () => {
  const at = '2026-01-01T00:00:00.000Z';
  answer = () => ({ body: { ticks: [{ nominalAt: at, effectiveAt: at }] } });
  const [tick] = await schedules.preview('sched_1', { n: 1, from: new Date(at) });
  expect(tick).toEqual({ nominalAt: new Date(at), effectiveAt: new Date(at) });
  answer = () => ({ body: { runs: [{ id: 'run_1', nominalAt: at }], alreadyRun: 2, next: at } });
  expect(await schedules.backfill('sched_1', { from: new Date(at), to: new Date(at), max: 1 })).toEqual({
    runs: [{ id: 'run_1', nominalAt: new Date(at) }],
    alreadyRun: 2,
    next: new Date(at),
  });
  answer = () => ({ body: { timezones: ['UTC'] } });
  expect(await schedules.timezones({ excludeUtc: true })).toEqual({ timezones: ['UTC'] });
  expect(requests()).toEqual([
    ['GET', `/api/v1/schedules/sched_1/preview?n=1&from=${encodeURIComponent(at)}`, undefined],
    ['POST', '/api/v1/schedules/sched_1/backfill', { from: at, to: at, max: 1 }],
    ['GET', '/api/v1/timezones?excludeUtc=true', undefined],
  ]);
});

test('rejections by the server are thrown as their error class', async () => {
  answer = () => ({ status: 404, body: { error: 'Schedule not found' } });
  await expect(schedules.retrieve('sched_2')).rejects.toThrow(NotFoundError);
});

describe('schedules.task', () => {
  const report = schedules.task({
    id: 'report',
    cron: {
      pattern: '0 9 * * mon-fri',
      timezone: 'Europe/Paris',
      environments: ['PRODUCTION'],
      overlap: 'skip',
    },
    retry: { maxAttempts: 1 },
    run: async ({ timestamp, lastTimestamp, upcoming }, { ctx }) => ({
      took: timestamp.getTime() - (lastTimestamp?.getTime() ?? 0),
      left: upcoming.map((at) => at.getUTCDate()),
      run: ctx.run.id,
    }),
  });

  test('declares to the server its cron expression and that schedules can run it', () => {
    expect(manifestOf(report, 'tasks/report.ts')).toMatchObject({
      id: 'report',
      scheduled: true,
      schedule: {
        cron: '0 9 * * mon-fri',
        timezone: 'Europe/Paris',
        environments: ['PRODUCTION'],
        overlap: 'skip',
      },
    });
    const plain = schedules.task({ id: 'a', cron: '@daily', run: () => {} });
    expect(manifestOf(plain, 'a.ts').schedule).toMatchObject({ cron: '@daily', timezone: 'UTC' });
    const none = manifestOf(schedules.task({ id: 'b', run: () => {} }), 'b.ts');
    expect([none.scheduled, none.schedule]).toEqual([true, undefined]);
  });

  test.each([
    [{ cron: '' }, /cron.pattern must be a non-empty string/],
    [{ cron: 5 }, /cron must be a cron expression or an object/],
    [{ cron: { pattern: '@daily', timezone: '' } }, /cron.timezone/],
    [{ cron: { pattern: '@daily', environments: 'prod' } }, /cron.environments must be an array/],
    [{ cron: { pattern: '@daily', missed: 1 } }, /cron.missed must be a string/],
  ])('rejects %j, naming file, task and field', (wrong, message) => {
    const declared = schedules.task({ id: 'bad', run: () => {}, ...(wrong as object) });
    expect(() => manifestOf(declared, 'tasks/bad.ts')).toThrow(message);
    expect(() => manifestOf(declared, 'tasks/bad.ts')).toThrow('tasks/bad.ts: task "bad"');
  });

  test('runs with the times as dates', async () => {
    const day = (n: number) => new Date(Date.UTC(2026, 0, n));
    const payload: ScheduledTaskPayload = {
      scheduleId: 'sched_1',
      type: 'DECLARATIVE',
      timestamp: day(2),
      lastTimestamp: day(1),
      timezone: 'UTC',
      upcoming: [day(3), day(4)],
    };
    const outcome = await execute({
      task: report,
      assignment: assignmentOf({
        task: 'report',
        payload: superjson.stringify(payload),
        payloadType: 'application/super+json',
      }),
      environment,
      signal: new AbortController().signal,
      onLog: () => {},
    });
    expect(outcome).toEqual({
      kind: 'completed',
      output: '{"took":86400000,"left":[3,4],"run":"run_1"}',
      outputType: 'application/json',
    });
  });

  test('has the types of its payload and output', () => {
    type Payload = Parameters<typeof report.trigger>[0];
    expectTypeOf<Payload>().toEqualTypeOf<ScheduledTaskPayload>();
    expectTypeOf<Schedule['nextRun']>().toEqualTypeOf<Date | null>();
  });
});
