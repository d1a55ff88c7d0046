import { expect, test } from 'vitest';
import { pipeFaults, readMessage } from './read-message.ts';

const token = Buffer.from('token-of-the-process');
const read = (value: unknown) =>
  readMessage(
    Buffer.concat([token, Buffer.from(typeof value === 'string' ? value : JSON.stringify(value))]),
    token,
  );

const error = {
  type: 'BUILT_IN_ERROR',
  name: 'Error',
  message: 'no',
  stackTrace: 'Error: no',
  causes: [{ type: 'STRING_ERROR', name: 'string', message: 'why', stackTrace: '' }],
};
const settlement = { run: 'run_1', fence: 1, outcome: { kind: 'failed', status: 'FAILED', error } };
const line = { run: 'run_1', attempt: 1, at: 5, level: 'info', message: 'text', properties: '{"a":1}' };
const chunk = {
  run: 'run_1',
  attempt: 1,
  trace: 'a'.repeat(32),
  spans: [{ id: 'b'.repeat(16), name: 'call', at: 1, took: 2, attributes: { list: ['a', null], n: 1 } }],
};

test('reads messages unchanged', () => {
  for (const message of [
    { type: 'ready' },
    { type: 'pong', isComplete: true },
    { type: 'progress', settlements: [settlement], lines: [line], spans: [chunk] },
    {
      type: 'progress',
      settlements: [
        {
          run: 'run_1',
          fence: 1,
          outcome: { kind: 'completed', output: null, outputType: 'application/json' },
          consumed: { chat: -1 },
        },
      ],
      lines: [],
    },
    { type: 'waits', attempts: [{ run: 'run_1', fence: 1, waits: [{ key: 'a', kind: 'TIME', inMs: 5 }] }] },
    { type: 'uncaught', settlement: null, torn: true, error },
    { type: 'exiting', fence: null, error },
    {
      type: 'indexed',
      tasks: [{ source: 'a.ts', manifest: { id: 'a', filePath: 'a.ts', payloadSchema: { type: 'object' } } }],
      problems: [],
      hookFiles: [],
    },
  ])
    expect(read(message)).toEqual(message);
});

test.each([
  ['not json', pipeFaults.foreign],
  ['null', 'The process sent its runner an invalid message: its type is unknown'],
  [{ type: 'other' }, 'The process sent its runner an invalid message: "type" is not valid'],
  [{ type: 'progress' }, 'The process sent its runner an invalid message: "settlements" is not valid'],
  [
    { type: 'progress', settlements: [], lines: [{ ...line, level: 'loud' }] },
    'The process sent its runner an invalid message: "lines.level" is not valid',
  ],
  [
    // Only the runner returns attempts.
    { type: 'progress', settlements: [{ run: 'run_1', fence: 1, outcome: { kind: 'released' } }], lines: [] },
    'The process sent its runner an invalid message: "settlements.outcome.kind" is not valid',
  ],
  [
    { type: 'progress', settlements: [{ ...settlement, fence: '1' }], lines: [] },
    'The process sent its runner an invalid message: "settlements.fence" is not valid',
  ],
  [
    { type: 'credential', fence: 1.5 },
    'The process sent its runner an invalid message: "fence" is not valid',
  ],
  ['['.repeat(500), pipeFaults.tooMuch],
] as const)('rejects message %# by name', (value, why) => {
  expect(read(value)).toEqual(why);
});

test('a line without the token of the process is not a message', () => {
  for (const text of ['', '{"type":"ready"}', 'token-of-another-one{"type":"ready"}'])
    expect(readMessage(Buffer.from(text), token)).toBe(pipeFaults.foreign);
});
