import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SetLog } from './set-log.ts';
import type { RunSnapshot } from './run-snapshot.ts';

const run = (id: string, bytes = 0): RunSnapshot =>
  ({ id, payload: 'x'.repeat(bytes), output: null, metadata: null }) as unknown as RunSnapshot;

test('returns the last change of each run after a given number, oldest first', () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 5 }), { maxLength: 200 }), fc.nat({ max: 200 }), (ids, seq) => {
      const log = new SetLog();
      ids.forEach((id, at) => log.add(run(String(id)), at));
      const last = new Map(ids.map((id, at) => [String(id), at + 1]));
      const expected = [...last].filter(([, at]) => at > seq).toSorted(([, a], [, b]) => a - b);
      expect(log.since(seq).map((change) => [change.run.id, change.seq])).toEqual(expected);
    }),
  );
});

test('has a size limit and reports dropped changes, but always has the last change', () => {
  const log = new SetLog(10_000);
  for (let n = 1; n <= 5; n++) log.add(run(`run_${n}`, 3_000), n);
  expect(log.since(0).map((change) => change.run.id)).toEqual(['run_4', 'run_5']);
  expect([log.droppedSeq, log.droppedAt]).toEqual([3, 3]);
  log.add(run('run_6', 50_000), 6);
  expect(log.since(0).map((change) => change.run.id)).toEqual(['run_6']);
  // A run that changes repeatedly is stored once.
  const repeated = new SetLog(10_000);
  for (let n = 1; n <= 1_000; n++) repeated.add(run('run_1', 3_000), n);
  expect([repeated.since(0).length, repeated.droppedSeq]).toEqual([1, 0]);
});
