import { AsyncLocalStorage } from 'node:async_hooks';
import * as fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { runScopes, type RunLogLine } from '../run-scope.ts';
import { logger } from './logger.ts';
import { propertiesText } from './properties.ts';

const linesOf = (act: () => void): RunLogLine[] => {
  const lines: RunLogLine[] = [];
  const scope = { run: 'run_1', attempt: 1, onLog: (line: RunLogLine) => lines.push(line) };
  runScopes(() => new AsyncLocalStorage()).run(scope, act);
  return lines;
};
afterEach(() => {
  vi.restoreAllMocks();
});

describe('logger', () => {
  test.each(['debug', 'info', 'log', 'warn', 'error'] as const)(
    'writes %s to the log of the run',
    (level) => {
      const onConsole = vi.spyOn(console, level).mockImplementation(() => {});
      const [line] = linesOf(() => logger[level]('hi', { a: 1 }));
      expect(line).toEqual({ level, message: 'hi', properties: '{"a":1}', at: expect.any(Number) });
      expect(onConsole).not.toHaveBeenCalled();
    },
  );

  test('writes to the console outside a run', () => {
    const onConsole = vi.spyOn(console, 'warn').mockImplementation(() => {});
    logger.warn('hi', { a: 1 });
    logger.warn('alone');
    expect(onConsole.mock.calls).toEqual([['hi', { a: 1 }], ['alone']]);
  });

  test('cuts long text and replaces characters that databases reject', () => {
    const [long, odd, none] = linesOf(() => {
      logger.info('x'.repeat(100_000), { big: 'y'.repeat(1_000_000) });
      logger.info('a\u0000b\uD800', { text: 'a\u0000b' });
      logger.info(Object.create(null) as string);
    });
    expect(none!.message).toMatch(/^\[unreadable: /);
    expect(long!.message).toMatch(/^x{65536}… \(34464 more characters\)$/);
    const whole = JSON.stringify({ big: 'y'.repeat(1_000_000) });
    expect(JSON.parse(long!.properties!)).toEqual({
      cut: `${whole.slice(0, 65_536)}… (${whole.length - 65_536} more characters)`,
    });
    expect(odd).toMatchObject({ message: 'a\uFFFDb\uFFFD', properties: '{"text":"a\uFFFDb"}' });
  });
});

describe('propertiesText', () => {
  test('represents values that JSON cannot', () => {
    const circle: Record<string, unknown> = {
      n: 1n,
      map: new Map([['k', new Set([1])]]),
      twice: [Math.max, Math.max],
    };
    circle['self'] = { up: circle };
    expect(JSON.parse(propertiesText(circle))).toEqual({
      n: '1n',
      map: { k: [1] },
      twice: ['[function max]', '[function max]'],
      self: { up: '[circular]' },
    });
  });

  test('shows errors with their message, stack and own fields', () => {
    const properties = JSON.parse(
      propertiesText({ error: Object.assign(new TypeError('no'), { code: 7 }) }),
    ) as object;
    expect(properties).toMatchObject({
      error: { name: 'TypeError', message: 'no', code: 7, stack: expect.any(String) },
    });
  });

  test('keeps the cause and the errors of an error, at any depth', () => {
    const inner = new TypeError('inner', { cause: 'text' });
    const error = new AggregateError([new RangeError('one', { cause: inner }), 'two'], 'all', {
      cause: inner,
    });
    const innerError = {
      name: 'TypeError',
      message: 'inner',
      cause: 'text',
      stack: expect.any(String) as string,
    };
    expect(JSON.parse(propertiesText({ error }))).toEqual({
      error: {
        name: 'AggregateError',
        message: 'all',
        stack: expect.any(String),
        cause: innerError,
        errors: [{ name: 'RangeError', message: 'one', stack: expect.any(String), cause: innerError }, 'two'],
      },
    });
    error.cause = error;
    expect(JSON.parse(propertiesText({ error }))).toMatchObject({ error: { cause: '[circular]' } });
    const toJSON = Object.assign(new Error('own', { cause: 'why' }), { toJSON: () => ({ status: 500 }) });
    expect(JSON.parse(propertiesText(toJSON))).toMatchObject({ message: 'own', cause: 'why', status: 500 });
  });

  test.each<[unknown, unknown]>([
    [Number.NaN, 'NaN'],
    [Number.POSITIVE_INFINITY, 'Infinity'],
    [Number.NEGATIVE_INFINITY, '-Infinity'],
    [-0, '-0'],
    [10n, '10n'],
    [new Date(Number.NaN), 'Invalid Date'],
    [new Date(0), '1970-01-01T00:00:00.000Z'],
    [/a+/gi, '/a+/gi'],
    [new Set([1, 'a']), [1, 'a']],
    [new Map<unknown, unknown>([['a', 1]]), { a: 1 }],
    [
      new Map<unknown, unknown>([
        [1, 'number'],
        ['1', 'text'],
        [{ k: 1 }, new Set([2])],
      ]),
      [
        [1, 'number'],
        ['1', 'text'],
        [{ k: 1 }, [2]],
      ],
    ],
    [new URL('https://x.test/a'), 'https://x.test/a'],
    [new URLSearchParams('a=1'), 'a=1'],
    [new Float32Array([1, Number.NaN, -0]), [1, 'NaN', '-0']],
    [new BigInt64Array([1n]), ['1n']],
    [Buffer.from('hi'), [104, 105]],
    [new ArrayBuffer(3), '[ArrayBuffer of 3 bytes]'],
    [Symbol('s'), 'Symbol(s)'],
    [Promise.resolve(1), '[Promise]'],
    [Object(1n), '1n'],
    [{ [Symbol('key')]: 1 }, { '[Symbol(key)]': 1 }],
    [{ toJSON: () => ({ answer: 1 }) }, { answer: 1 }],
    [
      new Response('', { status: 404, statusText: 'Not Found', headers: { authorization: 'secret' } }),
      { status: 404, statusText: 'Not Found' },
    ],
  ])('shows %o readably', (value, readable) => {
    expect(JSON.parse(propertiesText({ value }))).toEqual({ value: readable });
  });

  test('shows the beginning of long binary data', () => {
    const { value } = JSON.parse(propertiesText({ value: new Uint8Array(1_000) })) as { value: unknown[] };
    expect([value.length, value.at(-1)]).toEqual([101, '… 900 more']);
  });

  test('omits only the property that cannot be read', () => {
    const revoked = Proxy.revocable({}, {});
    revoked.revoke();
    const throws = (thrown: unknown) => (): never => {
      throw thrown;
    };
    const error = Object.defineProperty(new Error('kept'), 'code', { get: throws(1), enumerable: true });
    const value = Object.defineProperties(
      { before: 1, inner: revoked.proxy, error, list: [revoked.proxy, 2], after: 3 },
      {
        getter: { get: throws(new Error('no a today')), enumerable: true },
        hostile: { get: throws({ toString: throws('again') }), enumerable: true },
        toJSON: { get: throws('no JSON'), enumerable: false },
        status: { get: throws('no status'), enumerable: true },
        [Symbol.toStringTag]: { get: throws('no tag'), enumerable: false },
      },
    );
    expect(JSON.parse(propertiesText(value))).toEqual({
      before: 1,
      inner: expect.stringMatching(/^\[unreadable: .*revoked/),
      error: { name: 'Error', message: 'kept', stack: expect.any(String), code: '[unreadable: 1]' },
      list: [expect.stringMatching(/^\[unreadable/), 2],
      after: 3,
      getter: '[unreadable: no a today]',
      hostile: '[unreadable]',
      status: '[unreadable: no status]',
    });
    expect(propertiesText(revoked.proxy)).toMatch(/^\{"value":"\[unreadable/);
  });

  test('is an object as JSON text within bounds for every value', () => {
    fc.assert(
      fc.property(fc.anything({ withBigInt: true, withMap: true, withSet: true }), (value) => {
        const text = propertiesText(value);
        expect(text.startsWith('{')).toBe(true);
        expect(JSON.parse(text)).toBeTypeOf('object');
        expect(text.length).toBeLessThanOrEqual(65_536);
      }),
    );
  });
});
