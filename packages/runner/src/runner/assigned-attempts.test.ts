import { expect, test } from 'vitest';
import { AssignedAttempts } from './assigned-attempts.ts';

const assignment = (fence: number) =>
  ({ run: `run_${fence}`, fence, attempt: 1, task: 't', version: 'v', createdAt: 0 }) as const;
const line = (fence: number) =>
  ({ run: `run_${fence}`, attempt: 1, at: 0, level: 'log', message: '' }) as const;
const ended = (fence: number, run = `run_${fence}`) =>
  ({ run, fence, outcome: { kind: 'canceled' } }) as const;
const progress = (fences: readonly number[]) =>
  ({ type: 'progress', settlements: fences.map((fence) => ended(fence)), lines: fences.map(line) }) as const;
const error = { type: 'BUILT_IN_ERROR', name: 'Error', message: '', stackTrace: '' } as const;

test('a message about an attempt of another process is forged', () => {
  const attempts = new AssignedAttempts();
  attempts.add(assignment(1));
  expect(attempts.admit(progress([1]))).toEqual({ admitted: progress([1]), isForged: false });
  for (const message of [
    progress([1, 2]),
    { ...progress([]), lines: [{ ...line(1), attempt: 2 }] },
    { ...progress([]), spans: [{ run: 'run_2', attempt: 1, trace: '', spans: [] }] },
    { ...progress([]), settlements: [ended(1, 'run_2')] },
    { type: 'waits', attempts: [{ run: 'run_2', fence: 1, waits: [] }] },
    { type: 'credential', fence: 2 },
    { type: 'exiting', fence: 2, error },
    { type: 'uncaught', settlement: ended(2), torn: false, error },
  ] as const)
    expect(attempts.admit(message)).toMatchObject({ isForged: true });
  for (const message of [
    { type: 'exiting', fence: null, error },
    { type: 'uncaught', settlement: null, torn: false, error },
    { type: 'pong', isComplete: true },
    { type: 'credential', fence: 1 },
  ] as const)
    expect(attempts.admit(message)).toEqual({ admitted: message, isForged: false });
});

test('messages about the oldest of many ended attempts are dropped, and the process continues', () => {
  const attempts = new AssignedAttempts();
  for (let fence = 1; fence <= 10_001; fence += 1) {
    attempts.add(assignment(fence));
    attempts.admit({ ...progress([]), settlements: [ended(fence)] });
  }
  expect(attempts.admit(progress([1, 2]))).toEqual({ admitted: progress([2]), isForged: false });
  expect(attempts.admit({ type: 'credential', fence: 1 })).toEqual({ admitted: undefined, isForged: false });
});

test('an attempt that has not ended is remembered, regardless of how many others have', () => {
  const attempts = new AssignedAttempts();
  for (let fence = 1; fence <= 20_000; fence += 1) {
    attempts.add(assignment(fence));
    if (fence > 1) attempts.admit({ ...progress([]), settlements: [ended(fence)] });
  }
  expect(attempts.admit(progress([1]))).toEqual({ admitted: progress([1]), isForged: false });
});
