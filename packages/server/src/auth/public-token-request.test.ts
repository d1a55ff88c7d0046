import { describe, expect, test } from 'vitest';
import {
  maxLifetimeByRun,
  readExpirationTime,
  refuseScopesBeyond,
  refuseScopesBeyondMember,
} from './public-token-request.ts';

const now = Date.parse('2030-01-01T00:00:00Z');
const seconds = now / 1_000;

describe('the lifetime of a token', () => {
  test.each<[string | number | undefined, number]>([
    [undefined, 900],
    ['15m', 900],
    ['2 hours', 7_200],
    [seconds + 60, 60],
    ['30d', 2_592_000],
  ])('%j is %i seconds', (requested, expected) => {
    expect(readExpirationTime(requested, 900, now)).toBe(expected);
  });

  test.each<[string | number, RegExp]>([
    ['soon', /^Invalid expiration time: "soon"/],
    ['', /^Invalid expiration time/],
    ['0s', /in the future/],
    ['1 day ago', /in the future/],
    [seconds, /in the future/],
    [0, /in the future/],
    ['31d', /30 days/],
    [seconds * 1_000, /30 days/],
  ])('%j is rejected', (requested, why) => {
    expect(() => readExpirationTime(requested, 900, now)).toThrow(why);
  });
});

describe('the lifetime of a token that a run creates', () => {
  test('is at most a day, plus a second of clock tolerance', () => {
    const read = (requested: string | number) => readExpirationTime(requested, 900, now, maxLifetimeByRun);
    expect([read('24h'), read(seconds + 86_401)]).toEqual([86_400, 86_401]);
    for (const requested of ['25h', seconds + 86_402]) expect(() => read(requested)).toThrow(/24 hours/);
  });
});

describe('requested scopes', () => {
  const denied = (granted: string[], requested: string[]) => {
    try {
      refuseScopesBeyond(granted, requested);
      return [];
    } catch (error) {
      return (error as { extra: { deniedScopes: string[] } }).extra.deniedScopes;
    }
  };

  test('must be within the granted scopes, or name an object', () => {
    expect(denied(['admin'], ['admin', 'read:runs', 'x:y:z:1'])).toEqual([]);
    expect(denied(['read:runs'], ['read:runs:run_1', 'read:runs'])).toEqual([]);
    expect(denied(['read:runs:run_1'], ['read:runs', 'read:runs:run_2', 'read:runs:run_1'])).toEqual([
      'read:runs',
      'read:runs:run_2',
    ]);
    expect(denied(['write:tasks:a'], ['trigger:tasks:a', 'trigger:tasks:a:b'])).toEqual([
      'trigger:tasks:a:b',
    ]);
  });

  test.each(['read', '', ':', ':runs', 'read:', 'read:runs:', 'read::x', '*', 'Admin'])(
    'must be complete: not %j',
    (scope) => {
      expect(denied(['admin'], [scope])).toEqual([scope]);
    },
  );

  test('exclude admin and wildcards for a member', () => {
    expect(() => refuseScopesBeyondMember(false, ['read:all', 'write:runs', 'trigger:tasks'])).not.toThrow(
      'exceed',
    );
    for (const scope of ['admin', '*:all', 'admin:runs']) {
      expect(() => refuseScopesBeyondMember(false, [scope])).toThrow('exceed');
      expect(() => refuseScopesBeyondMember(true, [scope])).not.toThrow('exceed');
    }
  });
});
