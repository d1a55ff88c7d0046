import { expect, test } from 'vitest';
import { SessionClosedError } from '../sessions/ended.ts';
import { endOfSession } from './end-of-session.ts';

const payload = { sessionId: 'session_1', topic: 'weather' };

test('the end of the session that a run serves ends the run, that of another session fails it', () => {
  expect(endOfSession(new SessionClosedError('It was closed', 'session_1'), payload)).toBe('It was closed');
  expect(endOfSession(new SessionClosedError('It was closed', 'session_2'), payload)).toBeUndefined();
  for (const other of [undefined, null, 'session_1', {}])
    expect(endOfSession(new SessionClosedError('It was closed', 'session_1'), other)).toBeUndefined();
});

test('other thrown values do not end a session', () => {
  const unreadable = new Proxy(
    {},
    {
      get() {
        throw new Error('not readable');
      },
    },
  );
  for (const thrown of [
    new Error('x'),
    undefined,
    null,
    'SessionClosedError',
    { sessionId: 'session_1' },
    unreadable,
  ])
    expect(endOfSession(thrown, payload)).toBeUndefined();
});
