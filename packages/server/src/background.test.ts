import { expect, onTestFinished, test, vi } from 'vitest';
import { background } from './background.ts';

function withFakeTimers(): void {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
}

test('calls repeatedly until stopped', async () => {
  withFakeTimers();
  let calls = 0;
  const stop = background(100, () => void calls++);
  await vi.advanceTimersByTimeAsync(350);
  expect(calls).toBe(3);
  stop();
  await vi.advanceTimersByTimeAsync(350);
  expect(calls).toBe(3);
});

test('never calls while the last call is in progress', async () => {
  withFakeTimers();
  let calls = 0;
  let end: (() => void) | undefined;
  const stop = background(100, () => {
    calls++;
    return new Promise<void>((resolve) => (end = resolve));
  });
  onTestFinished(stop);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(calls).toBe(1);
  end?.();
  await vi.advanceTimersByTimeAsync(100);
  expect(calls).toBe(2);
});

test('reports the error of a failed call, and calls again', async () => {
  withFakeTimers();
  const errors: unknown[] = [];
  const stop = background(
    100,
    () => {
      throw new Error('away');
    },
    (error) => errors.push(String(error)),
  );
  onTestFinished(stop);
  await vi.advanceTimersByTimeAsync(250);
  expect(errors).toEqual(['Error: away', 'Error: away']);
});
