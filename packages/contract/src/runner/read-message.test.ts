import { expect, test } from 'vitest';
import { messageLimits, readRunnerMessage } from './read-message.ts';

const hello = { type: 'hello', runner: 'runner_1', host: 'h', pid: 1, capacity: 1, versions: [], leased: [] };
const line = { run: 'run_1', attempt: 1, at: 1, level: 'log', message: 'a' };
const chunk = { run: 'run_1', attempt: 1, trace: 'a'.repeat(32), spans: [] };

test.each([
  hello,
  { ...hello, at: 1_790_000_000_000 },
  { type: 'heartbeat' },
  { type: 'heartbeat', at: 1_790_000_000_000 },
  { type: 'drain' },
  { type: 'capacity', capacity: 0 },
  { type: 'serve', versions: ['1'] },
  { type: 'unable', version: '1', why: 'damaged\0' },
  { type: 'settle', settlements: [{ run: 'run_1', fence: 1, outcome: null }] },
  { type: 'log', seq: 1, lines: [line], spans: [chunk] },
  { type: 'wait', attempts: [{ run: 'run_1', fence: 1, waits: [null] }] },
  { type: 'detach', fences: [1] },
])('reads %j', (message) => {
  expect(readRunnerMessage(message)).toBe(message);
});

const types = 'hello, serve, unable, capacity, settle, log, wait, detach, heartbeat, drain';

test.each([
  [null, 'A message must be a JSON object.'],
  [[], 'A message must be a JSON object.'],
  [{}, `type must be one of ${types}.`],
  [{ type: 'toString' }, `type must be one of ${types}.`],
  [{ ...hello, runner: '' }, 'hello: runner must be a text of 1 to 128 characters, without U+0000.'],
  [{ ...hello, host: 'a\0' }, 'hello: host must be a text of 1 to 256 characters, without U+0000.'],
  [{ type: 'heartbeat', at: '0' }, 'heartbeat: at must be a whole number from 0 to 9007199254740991.'],
  [{ ...hello, pid: 1.5 }, 'hello: pid must be a whole number from 0 to 2147483647.'],
  [{ ...hello, leased: [1, '2'] }, 'hello: leased.1 must be a whole number from 0 to 9007199254740991.'],
  [{ type: 'capacity', capacity: -1 }, 'capacity: capacity must be a whole number from 0 to 2147483647.'],
  [{ type: 'settle' }, 'settle: settlements must be a list.'],
  [{ type: 'settle', settlements: [null] }, 'settle: settlements.0 must be an object.'],
  [
    { type: 'settle', settlements: [{ run: 'run_1', outcome: null }] },
    'settle: settlements.0.fence must be a whole number from 0 to 9007199254740991.',
  ],
  [
    { type: 'log', lines: Array.from({ length: messageLimits.lines + 1 }, () => line) },
    'log: lines must have at most 1000 items.',
  ],
  [{ type: 'log', lines: [line, 1] }, 'log: lines.1 must be an object.'],
  [
    { type: 'log', lines: [], spans: [chunk, { ...chunk, spans: Array.from({ length: 501 }, () => ({})) }] },
    'log: spans must have at most 500 spans.',
  ],
  [{ type: 'wait', attempts: [{ run: 'run_1', fence: 1 }] }, 'wait: attempts.0.waits must be a list.'],
  [{ type: 'detach', fences: {} }, 'detach: fences must be a list.'],
])('names the field of %j that is wrong', (message, fault) => {
  expect(readRunnerMessage(message)).toEqual({ fault });
});
