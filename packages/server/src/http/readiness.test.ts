import { expect, test } from 'vitest';
import { createReadiness } from './readiness.ts';

/** Readiness with a clock and database responses controlled by the test. */
function ready() {
  const state = { time: 0, queries: 0, answer: async (): Promise<boolean> => false };
  const check = createReadiness(
    () => {
      state.queries++;
      return state.answer();
    },
    { now: () => state.time, maxAnswerMs: 20 },
  );
  const at = async (time: number): Promise<string> => {
    state.time = time;
    return check().then(
      () => 'ready',
      (error: Error) => error.message,
    );
  };
  return { state, at };
}

test('the database is queried once per second, regardless of the number of probes', async () => {
  const { state, at } = ready();
  expect(await Promise.all([at(0), at(0), at(500)])).toEqual(['ready', 'ready', 'ready']);
  expect(await at(900)).toBe('ready');
  expect(state.queries).toBe(1);
  expect(await at(1_000)).toBe('ready');
  expect(state.queries).toBe(2);
});

test('a server stays ready while the database fails for less than five seconds', async () => {
  const { state, at } = ready();
  expect(await at(0)).toBe('ready');
  state.answer = () => Promise.reject(new Error('gone'));
  expect(await at(10_000)).toBe('ready');
  expect(await at(14_000)).toBe('ready');
  state.answer = async () => false;
  expect(await at(15_500)).toBe('ready');
  state.answer = () => Promise.reject(new Error('gone'));
  expect(await at(20_000)).toBe('ready');
  expect(await at(25_000)).toBe('The database does not respond');
  state.answer = async () => false;
  expect(await at(26_000)).toBe('ready');
});

test('a query that hangs is not repeated, and the server is not ready after five seconds', async () => {
  const { state, at } = ready();
  state.answer = () => new Promise(() => {});
  expect(await at(0)).toBe('ready');
  expect(await at(6_000)).toBe('The database does not respond');
  expect(state.queries).toBe(1);
});

test('a server whose database became a standby is not ready', async () => {
  const { state, at } = ready();
  state.answer = async () => true;
  expect(await at(0)).toBe('ready');
  expect(await at(5_000)).toBe('The database is a standby and does not accept writes');
});
