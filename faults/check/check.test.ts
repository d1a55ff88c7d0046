import { expect, test } from 'vitest';
import type { Effect, History, Operation, Stored, StoredRun } from '../history/types.ts';
import { check } from './check.ts';
import type { Violation } from './violation.ts';

const nothing: Stored = { runs: [], lost: [], ticks: [], skips: [], due: [], channels: {}, steps: [] };

function violationsOf(
  history: Partial<Omit<History, 'stored'>> & { readonly stored?: Partial<Stored> },
): Violation[] {
  const { operations = [], effects = [], stored = {} } = history;
  return [...checked({ operations, effects, stored: { ...nothing, ...stored } }).violations];
}

const checked = (history: History, isExcused?: (task: string) => boolean) =>
  check(history, [], {
    runnerOf: (pid) => `runner-${pid}`,
    isAffected: (runner) => runner === 'runner-2',
    ...(isExcused && { isExcused }),
  });

const promisesOf = (...history: Parameters<typeof violationsOf>): string[] =>
  violationsOf(...history).map(({ promise }) => promise);

const trigger = (key: string, run: string | undefined, more: object = {}): Operation => ({
  call: 'trigger',
  task: 'quick',
  key,
  ...(run === undefined ? { error: 'failed' } : { run }),
  invokedAt: 0,
  endedAt: 1,
  ...more,
});
const run = (id: string, key: string, more: Partial<StoredRun> = {}): StoredRun => ({
  id,
  task: 'quick',
  status: 'COMPLETED',
  key,
  output: key,
  ...more,
});
const effect = (id: string, point: string, at = 0, more: Partial<Effect> = {}): Effect => ({
  run: id,
  attempt: 1,
  key: 'key',
  point,
  at,
  runner: 'runner-1',
  ...more,
});

test('a history without faults breaks no promise', () => {
  expect(
    violationsOf({
      operations: [trigger('a', 'run_1'), trigger('b', undefined)],
      effects: [effect('run_1', 'begin'), effect('run_1', 'end')],
      stored: { runs: [run('run_1', 'a')] },
    }),
  ).toEqual([]);
});

test('finds an acknowledged run that does not exist, has not ended, has failed or has not executed', () => {
  expect(promisesOf({ operations: [trigger('a', 'run_1')] })).toEqual(['lost']);
  for (const status of [null, 'FAILED', 'CRASHED'])
    expect(
      promisesOf({ effects: [effect('run_1', 'end')], stored: { runs: [run('run_1', 'a', { status })] } }),
    ).toEqual(['lost']);
  expect(promisesOf({ operations: [trigger('a', 'run_1')], stored: { runs: [run('run_1', 'a')] } })).toEqual([
    'lost',
  ]);
});

test('permits runs of excused tasks that wait or failed, but not missing ones', () => {
  const history = {
    operations: [trigger('a', 'run_1'), trigger('b', 'run_2'), trigger('c', 'run_3')],
    effects: [],
    stored: {
      ...nothing,
      runs: [run('run_1', 'a', { status: null }), run('run_2', 'b', { status: 'FAILED' })],
    },
  };
  expect(checked(history).lost).toBe(3);
  expect(checked(history, (task) => task === 'quick').lost).toBe(1);
});

test('finds a missing run of an acknowledged batch', () => {
  const batch: Operation = { call: 'batch', task: 'quick', keys: ['a', 'b'], invokedAt: 0, endedAt: 1 };
  expect(
    promisesOf({
      operations: [batch],
      effects: [effect('run_1', 'end')],
      stored: { runs: [run('run_1', 'a')] },
    }),
  ).toEqual(['lost']);
});

test('finds two runs of one key, also of a call that failed', () => {
  expect(
    promisesOf({
      operations: [trigger('a', undefined)],
      effects: [effect('run_1', 'end'), effect('run_2', 'end')],
      stored: { runs: [run('run_1', 'a'), run('run_2', 'a')] },
    }),
  ).toEqual(['doubled']);
});

const stored = (value: string) => [{ run: 'run_1', name: 'first', value }];

test('permits a step that executes again before its result is stored', () => {
  expect(
    promisesOf({
      effects: [
        effect('run_1', 'execute first', 1, { value: 'x' }),
        effect('run_1', 'execute first', 2, { value: 'y' }),
        effect('run_1', 'result first', 3, { value: 'y' }),
      ],
      stored: { steps: stored('y') },
    }),
  ).toEqual([]);
});

test('finds a step with two results, and one that executes although it has a result', () => {
  const first = [
    effect('run_1', 'execute first', 1, { value: 'x' }),
    effect('run_1', 'result first', 2, { value: 'x' }),
  ];
  const again = effect('run_1', 'execute first', 3, { value: 'y' });
  const details = (effects: Effect[], value: string): string[] =>
    violationsOf({ effects, stored: { steps: stored(value) } }).map(({ detail }) =>
      detail.replace(/^.*: /, ''),
    );
  expect(details([...first, again], 'x')).toEqual(['executed after its result was stored']);
  expect(details([...first, again, effect('run_1', 'result first', 4, { value: 'y' })], 'x')).toEqual([
    '2 results',
    'executed after its result was stored',
    'the stored result is another one',
  ]);
  expect(details(first, 'z')).toEqual(['the stored result is another one']);
  expect(details([effect('run_1', 'result first', 2, { value: 'x' })], 'x')).toEqual([
    'a result of no execution',
  ]);
});

test('finds an output that differs from the stored steps', () => {
  const steps = ['first', 'second', 'third'].map((name) => ({ run: 'run_1', name, value: name }));
  const of = (output: unknown) =>
    promisesOf({
      effects: [effect('run_1', 'end')],
      stored: { steps, runs: [run('run_1', 'a', { task: 'stepping', output })] },
    });
  expect(of(['first', 'second', 'third'])).toEqual([]);
  expect(of(['first', 'other', 'third'])).toEqual(['step']);
});

test('finds a run that received another value than the completion of its token', () => {
  const complete: Operation = { call: 'complete', token: 't', value: 'a', invokedAt: 2, endedAt: 3 };
  const of = (output: string) =>
    promisesOf({
      operations: [trigger('a', 'run_1', { token: 't' }), complete],
      effects: [effect('run_1', 'end')],
      stored: { runs: [run('run_1', 'a', { output })] },
    });
  expect(of('a')).toEqual([]);
  expect(of('b')).toEqual(['token']);
});

const append = (value: string, seq: number | undefined, invokedAt: number, endedAt: number): Operation => ({
  call: 'append',
  channel: 'c',
  value,
  ...(seq === undefined ? { error: 'failed' } : { seq }),
  invokedAt,
  endedAt,
});
const read = (value: string, seq: number): Operation => ({
  call: 'read',
  channel: 'c',
  reader: 'r',
  seq,
  value,
  invokedAt: 0,
  endedAt: 0,
});
const log = (...values: string[]) => ({ channels: { c: values.map((value, seq) => ({ seq, value })) } });

test('accepts appends that were acknowledged, concurrent, or failed and stored', () => {
  const operations = [
    append('a', 1, 0, 10),
    append('b', 0, 5, 6),
    append('c', undefined, 11, 12),
    read('b', 0),
  ];
  expect(promisesOf({ operations, stored: log('b', 'a', 'c') })).toEqual([]);
  expect(promisesOf({ operations, stored: log('b', 'a') })).toEqual([]);
});

test.each([
  ['an acknowledged append that is missing', [append('a', 0, 0, 1)], log()],
  ['an append that is stored twice', [append('a', 0, 0, 1)], log('a', 'a')],
  ['an append at another number', [append('a', 0, 0, 1), append('b', 0, 0, 1)], log('a', 'b')],
  [
    'an order that contradicts the acknowledgements',
    [append('a', 1, 0, 1), append('b', 0, 2, 3)],
    log('b', 'a'),
  ],
  ['a gap', [], { channels: { c: [{ seq: 1, value: 'a' }] } }],
  ['a reader that received another record', [read('b', 0)], log('a')],
  ['a reader that missed a record', [read('b', 1)], log('a', 'b')],
  ['a reader that received a record twice', [read('a', 0), read('a', 0)], log('a')],
])('finds %s in a channel', (_, operations, content) => {
  expect(promisesOf({ operations, stored: content })).toContain('channel');
});

test('finds messages that were not consumed, or in another order', () => {
  const send = (value: string): Operation => ({
    call: 'send',
    channel: 'c',
    value,
    invokedAt: 0,
    endedAt: 1,
  });
  const consumed = (...values: string[]) =>
    values.map((value) => effect('run_1', 'message', 0, { key: 'c', value }));
  const operations = [send('a'), send('b')];
  expect(promisesOf({ operations, effects: consumed('a', 'a', 'b') })).toEqual([]);
  expect(promisesOf({ operations, effects: consumed('a') })).toEqual(['channel']);
  expect(promisesOf({ operations, effects: consumed('b', 'a') })).toEqual(['channel']);
});

test('finds ticks that fired twice, not at all, or as another run', () => {
  const due = ['12:00', '12:01'];
  const tick = (nominal: string, id = 'run_1') => ({ nominal, run: id });
  const skips = [{ from: '12:01', until: '12:01', reason: 'missed' }];
  expect(promisesOf({ stored: { due, ticks: [tick('12:00')], skips } })).toEqual([]);
  expect(promisesOf({ stored: { due, ticks: [tick('12:00')] } })).toEqual(['schedule']);
  expect(promisesOf({ stored: { due, ticks: [tick('12:00'), tick('12:00', 'run_2')], skips } })).toEqual([
    'schedule',
  ]);
  expect(promisesOf({ stored: { due, ticks: [tick('12:00'), tick('12:01')], skips } })).toEqual(['schedule']);
  expect(
    promisesOf({
      effects: [effect('run_2', 'tick', 0, { key: '12:00' })],
      stored: { due, ticks: [tick('12:00')], skips },
    }),
  ).toEqual(['schedule']);
});

test('finds a queue above its limit, except on a runner that was disconnected', () => {
  const executing = (runner: string, count: number) =>
    Array.from({ length: count }, (_, index) => [
      effect(`run_${index}`, 'begin', 0, { runner }),
      effect(`run_${index}`, 'end', 10, { runner }),
    ]).flat();
  const runs = Array.from({ length: 4 }, (_, index) => run(`run_${index}`, `${index}`, { task: 'limited' }));
  expect(promisesOf({ effects: executing('runner-1', 3) })).toEqual([]);
  expect(promisesOf({ effects: executing('runner-1', 4), stored: { runs } })).toEqual(['limit']);
  expect(promisesOf({ effects: executing('runner-2', 4), stored: { runs } })).toEqual([]);
});

test('counts only attempts that were taken from runners that the fault did not affect', () => {
  const lost = [1, 2].map((pid) => ({ run: `run_${pid}`, pid, outcome: 'LOST' as const }));
  expect(checked({ operations: [], effects: [], stored: { ...nothing, lost } }).falseRescues).toBe(1);
});

test('counts runs whose code executed again', () => {
  const effects = [effect('run_1', 'begin'), effect('run_1', 'begin'), effect('run_2', 'begin')];
  expect(checked({ operations: [], effects, stored: nothing }).executedAgain).toBe(1);
});
