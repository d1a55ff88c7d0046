import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { ApiError } from './api-error.ts';
import { insist } from './insist.ts';

beforeEach(() => {
  vi.useFakeTimers();
  const warned = vi.spyOn(console, 'warn').mockImplementation(() => {});
  onTestFinished(() => {
    vi.useRealTimers();
    warned.mockRestore();
  });
});

const busy = new ApiError('The database does not accept writes at the moment. Try again.', { status: 503 });

/** A call that fails until `answer` is called. */
function failing(error: Error = busy) {
  let answered: string | undefined;
  let calls = 0;
  const call = async (): Promise<string> => {
    calls++;
    if (answered === undefined) throw error;
    return answered;
  };
  return { call, count: () => calls, answer: (value: string) => void (answered = value) };
}

test('retries a call as long as the server responds with 503, and logs it', async () => {
  const { call, count, answer } = failing();
  const result = insist(call, undefined);
  await vi.advanceTimersByTimeAsync(59_000);
  expect(console.warn).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(vi.mocked(console.warn).mock.calls).toEqual([
    [
      expect.stringMatching(
        /^This run is waiting: .* failed for 6\d s and is being retried\. The database does not accept/,
      ),
    ],
  ]);
  await vi.advanceTimersByTimeAsync(3_600_000);
  // The interval doubles: after 1, 2, 4, … 32 minutes.
  expect(vi.mocked(console.warn).mock.calls.length).toBeLessThan(8);
  const before = count();
  answer('stored');
  await vi.advanceTimersByTimeAsync(5_000);
  expect(await result).toBe('stored');
  expect(count()).toBe(before + 1);
});

test('ends immediately when the attempt receives a stop signal', async () => {
  const { call, count } = failing();
  const stop = new AbortController();
  const result = insist(call, stop.signal).catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(3_600_000);
  const before = count();
  const reason = new Error('maxDuration');
  stop.abort(reason);
  expect(await result).toBe(reason);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(count()).toBe(before);
});

test.each([
  ['a server bug', new ApiError('Internal Server Error', { status: 500 })],
  ['a final answer', new ApiError('no', { status: 503, isFinal: true })],
  ['a rejected request', new ApiError('no', { status: 422 })],
])('does not repeat %s', async (_, error) => {
  const { call, count } = failing(error);
  await expect(insist(call, undefined)).rejects.toBe(error);
  expect(count()).toBe(1);
});
