import * as fc from 'fast-check';
import { expect, onTestFinished, test, vi } from 'vitest';
import { Admission, type AdmissionLimits } from './admission.ts';

const limits: AdmissionLimits = {
  capacity: 4,
  share: 3,
  minContendedShare: 3,
  maxContendedShare: 3,
  maxWaiting: 1_000,
  maxWaitMs: 60_000,
};
const share = (key: string, weight = 1) => ({ key, weight });

/** Requests by name, with their outcomes. */
function admission(changes: Partial<AdmissionLimits> = {}) {
  const admitted = new Admission({ ...limits, ...changes });
  const started: string[] = [];
  const rejected: string[] = [];
  const leave = new Map<string, () => void>();
  const gone = new Set<string>();
  return {
    admitted,
    started,
    rejected,
    gone,
    enter(name: string, { cost = 1, weight = 1 } = {}) {
      admitted.enter(
        share(name.replace(/\d+$/, ''), weight),
        cost,
        (end) => {
          started.push(name);
          leave.set(name, end);
        },
        ({ code, status, retry }) => rejected.push(`${name} ${code} ${status} ${retry}`),
        () => gone.has(name),
      );
    },
    leave: (name: string) => leave.get(name)?.(),
  };
}

const names = (tenant: string, count: number) => Array.from({ length: count }, (_, n) => `${tenant}${n}`);
/** Waiting requests start in later turns of the event loop. */
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

test('requests are admitted immediately while there is capacity, and a tenant leaves capacity for others', async () => {
  const { enter, leave, started, admitted } = admission();
  for (const name of names('noisy', 6)) enter(name);
  expect(started).toEqual(names('noisy', 3));
  enter('quiet0');
  expect(started).toEqual([...names('noisy', 3), 'quiet0']);
  leave('quiet0');
  await turn();
  expect(admitted.load).toEqual({ used: 3, tenants: 1, waiting: 3, immediate: 4 });
  // Leaving twice releases the units only once.
  leave('noisy0');
  leave('noisy0');
  await turn();
  expect(started.at(-1)).toBe('noisy3');
  for (const name of names('noisy', 6)) {
    leave(name);
    await turn();
  }
  expect(started).toHaveLength(7);
  expect(admitted.load).toMatchObject({ used: 0, tenants: 0, waiting: 0 });
});

test('while several tenants send requests, each has an equal share of the capacity within bounds', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const bounds = { share: 12, minContendedShare: 2, maxContendedShare: 6 };
  const { enter, leave, started } = admission({ capacity: 16, ...bounds });
  const startedOf = (tenant: string): number => started.filter((name) => name.startsWith(tenant)).length;
  const enterAndLeave = (tenants: readonly string[]): void => {
    for (const tenant of tenants) {
      enter(`${tenant}0`);
      leave(`${tenant}0`);
    }
  };
  const flood = async (tenant: string): Promise<number> => {
    for (const name of names(tenant, 14)) enter(name);
    const count = startedOf(tenant);
    for (const name of names(tenant, 14)) {
      leave(name);
      await turn();
    }
    return count;
  };
  expect(await flood('alone')).toBe(12);
  // Half of the capacity would be 8.
  expect(await flood('second')).toBe(6);
  enterAndLeave(['x', 'y']);
  expect(await flood('fifth')).toBe(3);
  enterAndLeave('abcdefghijkl'.split(''));
  for (const name of names('many', 14)) enter(name);
  expect(startedOf('many')).toBe(2);

  vi.advanceTimersByTime(2_001);
  leave('many0');
  await turn();
  expect(startedOf('many')).toBe(13);
});

test('waiting tenants take turns, with a number of requests equal to their weight', async () => {
  const { enter, leave, started } = admission({ capacity: 1, share: 1 });
  enter('first0');
  for (const name of names('a', 5)) enter(name);
  for (const name of names('b', 5)) enter(name, { weight: 2 });
  for (const name of names('c', 1)) enter(name);
  for (let n = 0; n < 11; n++) {
    leave(started.at(-1)!);
    await turn();
  }
  expect(started).toEqual(['first0', 'a0', 'b0', 'b1', 'c0', 'a1', 'b2', 'b3', 'a2', 'b4', 'a3', 'a4']);
});

test('a costly request is not overtaken while it waits for capacity, and one that exceeds the share counts as the share', async () => {
  const { enter, leave, started, admitted } = admission();
  enter('small0');
  enter('large0', { cost: 100 });
  expect(admitted.load.used).toBe(4);
  enter('large1', { cost: 100 });
  enter('small1');
  leave('small0');
  await turn();
  expect(started).toEqual(['small0', 'large0', 'small1']);
  leave('large0');
  await turn();
  expect(started).toEqual(['small0', 'large0', 'small1', 'large1']);
});

test('a request that waits too long, or exceeds the queue, is rejected and may be repeated', async () => {
  const { enter, leave, started, rejected, admitted } = admission({ maxWaitMs: 20, maxWaiting: 2 });
  for (const name of names('noisy', 5)) enter(name);
  enter('noisy5');
  expect(rejected).toEqual(['noisy5 overloaded 503 true']);
  await expect.poll(() => rejected).toHaveLength(3);
  expect(rejected.slice(1)).toEqual(['noisy3 overloaded 503 true', 'noisy4 overloaded 503 true']);
  enter('quiet0');
  for (const name of started) leave(name);
  expect(started).toEqual([...names('noisy', 3), 'quiet0']);
  expect(admitted.load).toMatchObject({ used: 0, tenants: 0, waiting: 0 });
});

test('a request whose client has disconnected is not started', async () => {
  const { enter, leave, started, gone } = admission({ capacity: 1, share: 1 });
  for (const name of names('a', 3)) enter(name);
  gone.add('a1');
  leave('a0');
  await turn();
  expect(started).toEqual(['a0', 'a2']);
});

test('waiting requests do not start while connections arrive', async () => {
  const { enter, leave, started, admitted } = admission({ capacity: 1, share: 1 });
  for (const name of names('a', 2)) enter(name);
  leave('a0');
  admitted.connectionAccepted();
  await turn();
  admitted.connectionAccepted();
  await turn();
  expect(started).toEqual(['a0']);
  await turn();
  expect(started).toEqual(['a0', 'a1']);
});

test('every request starts once, and no limit is exceeded by more than one request of a new tenant', async () => {
  const arrivals = fc.array(
    fc.record({
      tenant: fc.constantFrom('a', 'b', 'c'),
      cost: fc.integer({ min: 1, max: 5 }),
      weight: fc.constantFrom(1, 4),
    }),
    { maxLength: 40 },
  );
  await fc.assert(
    fc.asyncProperty(arrivals, fc.infiniteStream(fc.nat()), async (requests, picks) => {
      const { enter, leave, started, admitted } = admission();
      const open: string[] = [];
      const sync = () => {
        for (const name of started.slice(seen)) open.push(name);
        seen = started.length;
      };
      let seen = 0;
      for (const [n, { tenant, ...options }] of requests.entries()) enter(`${tenant}${n}`, options);
      sync();
      while (open.length > 0) {
        expect(admitted.load.used).toBeLessThan(limits.capacity + limits.share);
        const [name] = open.splice(Number(picks.next().value) % open.length, 1);
        leave(name!);
        await turn();
        sync();
      }
      expect(new Set(started).size).toBe(requests.length);
      expect(started).toHaveLength(requests.length);
      expect(admitted.load).toMatchObject({ used: 0, tenants: 0, waiting: 0 });
    }),
  );
});
