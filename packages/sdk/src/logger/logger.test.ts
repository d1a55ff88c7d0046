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

  test('writes to the console outside of a run', () => {
    const onConsole = vi.spyOn(console, 'warn').mockImplementation(() => {});
    logger.warn('hi', { a: 1 });
    logger.warn('alone');
    expect(onConsole.mock.calls).toEqual([['hi', { a: 1 }], ['alone']]);
  });

  test('cuts what is too long and replaces what no database takes', () => {
    const [long, odd] = linesOf(() => {
      logger.info('x'.repeat(100_000), { big: 'y'.repeat(1_000_000) });
      logger.info('a\u0000b\uD800', { text: 'a\u0000b' });
    });
    expect(long!.message).toMatch(/^x{65536}… \(34464 more characters\)$/);
    const whole = JSON.stringify({ big: 'y'.repeat(1_000_000) });
    expect(JSON.parse(long!.properties!)).toEqual({
      cut: `${whole.slice(0, 65_536)}… (${whole.length - 65_536} more characters)`,
    });
    expect(odd).toMatchObject({ message: 'a\uFFFDb\uFFFD', properties: '{"text":"a\uFFFDb"}' });
  });
});

describe('propertiesText', () => {
  test('has a form for what JSON has none for', () => {
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
    const shown = JSON.parse(
      propertiesText({ error: Object.assign(new TypeError('no'), { code: 7 }) }),
    ) as object;
    expect(shown).toMatchObject({
      error: { name: 'TypeError', message: 'no', code: 7, stack: expect.any(String) },
    });
  });

  test('says so when something cannot be read', () => {
    const revoked = Proxy.revocable({}, {});
    revoked.revoke();
    const hostile = {
      get a() {
        throw new Error('no a today');
      },
    };
    expect(propertiesText(hostile)).toBe('{"unreadable":"no a today"}');
    expect(propertiesText({ inner: revoked.proxy })).toContain('unreadable');
  });

  test('is an object as JSON text within bounds for anything', () => {
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
