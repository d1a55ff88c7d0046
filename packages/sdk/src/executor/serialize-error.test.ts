import vm from 'node:vm';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { NotFoundError } from '../client/api-error.ts';
import { UnserializableError } from '../payload/unserializable-error.ts';
import { revivedError } from '../task/revived-error.ts';
import { internalError, serializeError } from './serialize-error.ts';

describe('serializeError', () => {
  test('keeps name, message, stack, code and fingerprint of an error', () => {
    const error = Object.assign(new TypeError('no'), { code: 'E_NO', fingerprint: 'mine' });
    expect(serializeError(error)).toEqual({
      type: 'BUILT_IN_ERROR',
      name: 'TypeError',
      message: 'no',
      stackTrace: error.stack,
      code: 'E_NO',
      fingerprint: 'mine',
    });
  });

  test('names a subclass without a name by its class, even if a bundler renamed it', () => {
    class _CardDeclined extends Error {}
    expect(serializeError(new _CardDeclined('x')).name).toBe('CardDeclined');
    expect(serializeError(new (class extends Error {})('x')).name).toBe('Error');
  });

  test('omits the documentation reference from the message of a run', () => {
    const help = 'docs/troubleshooting.md#not-found';
    const thrown = new NotFoundError('404 Run not found', { status: 404, help });
    expect(thrown.stack).toMatch(/^(?:NotFound)?Error: 404 Run not found; see: millrace help not-found/);
    const { message, stackTrace } = serializeError(thrown);
    expect(message).toBe('404 Run not found');
    expect(stackTrace).toMatch(/^\w*Error: 404 Run not found\n\s+at /);
    expect(JSON.stringify(serializeError(new Error('outer', { cause: thrown })))).not.toContain(
      'millrace help',
    );
    // The text that is replaced in the stack is not treated as a pattern.
    const odd = new UnserializableError('The $& cannot be serialized: $1.');
    expect(serializeError(odd).stackTrace).toContain('The $& cannot be serialized: $1.\n');
    expect(internalError('OutputUnserializableError', odd.message).message).toBe(
      'The $& cannot be serialized: $1.',
    );
    const own = new Error('Ask for docs/troubleshooting.md#not-found in the office.');
    expect(serializeError(own).message).toBe(own.message);
  });

  test('recognizes an error of another realm', () => {
    const error: unknown = vm.runInNewContext('new RangeError("far")');
    expect(serializeError(error)).toMatchObject({
      type: 'BUILT_IN_ERROR',
      name: 'RangeError',
      message: 'far',
    });
  });

  test.each([
    ['text', { type: 'STRING_ERROR', name: 'string', message: 'text' }],
    [undefined, { type: 'CUSTOM_ERROR', name: 'undefined', message: 'undefined' }],
    [null, { type: 'CUSTOM_ERROR', name: 'null', message: 'null' }],
    [5n, { type: 'CUSTOM_ERROR', name: 'bigint', message: '5' }],
    [Symbol('s'), { type: 'CUSTOM_ERROR', name: 'symbol', message: 'Symbol(s)' }],
    [
      { code: 'X', n: 1 },
      { type: 'CUSTOM_ERROR', name: 'Error', message: '{"code":"X","n":1}', code: 'X' },
    ],
  ])('describes a thrown value that is not an error: %o', (thrown, expected) => {
    expect(serializeError(thrown)).toMatchObject(expected);
  });

  test('follows causes three levels down', () => {
    const nested = [1, 2, 3, 4, 5].reduce<Error | undefined>(
      (cause, n) => new Error(`e${n}`, { cause }),
      undefined,
    );
    const serialized = serializeError(nested);
    const messages = [];
    for (let at: typeof serialized | undefined = serialized; at; at = at.causes?.[0])
      messages.push(at.message);
    expect(messages).toEqual(['e5', 'e4', 'e3', 'e2']);
  });

  test('keeps the errors of an AggregateError, and stops at a cycle', () => {
    const error = new AggregateError([new Error('a'), 'b'], 'all');
    error.cause = error;
    expect(serializeError(error).causes).toMatchObject([
      { message: 'a', isMember: true },
      { type: 'STRING_ERROR', message: 'b', isMember: true },
    ]);
  });

  test('restores an error with its cause and its errors in their places', () => {
    const deep = new RangeError('deep', { cause: Object.assign(new TypeError('root'), { code: 'E_ROOT' }) });
    const error = new AggregateError([new Error('a', { cause: deep }), 'b'], 'all', { cause: deep });
    const back = revivedError({ ...serializeError(error) }) as AggregateError;
    expect(back).toBeInstanceOf(AggregateError);
    expect(back).toMatchObject({
      name: 'AggregateError',
      message: 'all',
      cause: {
        name: 'RangeError',
        message: 'deep',
        cause: { name: 'TypeError', message: 'root', code: 'E_ROOT' },
      },
      errors: [{ message: 'a' }, 'b'],
    });
    expect(serializeError(back)).toEqual(serializeError(error));
    const plain = revivedError({ ...serializeError(deep) });
    expect([plain.name, plain instanceof AggregateError, (plain.cause as Error).message]).toEqual([
      'RangeError',
      false,
      'root',
    ]);
  });

  class HttpFailure {
    readonly #status = 503;
    get status(): number {
      return this.#status;
    }
    get message(): string {
      return 'busy';
    }
    get headers(): object {
      return { authorization: 'secret' };
    }
    get broken(): string {
      throw new Error('no');
    }
    set written(_: string) {}
  }
  /** Like that of a WebSocket. */
  class ErrorEvent extends Event {
    readonly #error = new TypeError('refused');
    get message(): string {
      return 'cannot connect';
    }
    get error(): Error {
      return this.#error;
    }
  }

  test('keeps the content of objects that are not errors, without headers', () => {
    const headers = { authorization: 'secret', 'set-cookie': 'secret' };
    const response = new Response('', { status: 404, statusText: 'Not Found', headers });
    Object.defineProperty(response, 'url', { value: 'https://x.test/a?token=secret' });
    const content = (thrown: unknown) => {
      const { name, message } = serializeError(thrown);
      return [name, JSON.parse(message)] as unknown;
    };
    expect(content(response)).toEqual([
      'Response',
      { status: 404, statusText: 'Not Found', url: 'https://x.test/a?…' },
    ]);
    expect(content(new HttpFailure())).toEqual(['HttpFailure', { status: 503, message: 'busy' }]);
    expect(content(new ErrorEvent('error'))).toEqual([
      'ErrorEvent',
      { type: 'error', message: 'cannot connect' },
    ]);
    expect(serializeError(new ErrorEvent('error')).causes).toMatchObject([
      { name: 'TypeError', message: 'refused' },
    ]);
    const plain = { status: 500, reason: 'busy', headers, inner: { cookie: 'secret', n: 1n } };
    expect(content(plain)).toEqual(['Error', { status: 500, reason: 'busy', inner: { n: '1n' } }]);
    expect(serializeError(new DOMException('stopped', 'AbortError'))).toMatchObject({
      type: 'BUILT_IN_ERROR',
      name: 'AbortError',
      message: 'stopped',
    });
  });

  test('bounds everything', () => {
    const huge = 'x'.repeat(10_000_000);
    const many = Array.from({ length: 1_000 }, () => Object.assign(new Error(huge), { stack: huge }));
    const error = Object.assign(new AggregateError(many, huge), {
      name: huge,
      stack: huge,
      code: huge,
      fingerprint: huge,
    });
    const serialized = serializeError(error);
    expect(serialized.message).toMatch(/^x{16384}… \(9983616 more characters\)$/);
    expect(serialized.causes).toHaveLength(9);
    expect(JSON.stringify(serialized).length).toBeLessThan(1_000_000);
  });

  test('replaces NUL and lone surrogates', () => {
    expect(serializeError(new Error('a\u0000b\uD800c\uDC00 😀')).message).toBe('a\uFFFDb\uFFFDc\uFFFD 😀');
  });

  test('handles getters and proxies that throw', () => {
    const hostile = Object.defineProperties(new Error('m'), {
      message: {
        get() {
          throw new Error('message');
        },
      },
      stack: {
        get() {
          throw new Error('stack');
        },
      },
      cause: {
        get() {
          throw new Error('cause');
        },
      },
    });
    expect(serializeError(hostile)).toMatchObject({ name: 'Error', message: '', stackTrace: '' });
    const revoked = Proxy.revocable({}, {});
    revoked.revoke();
    expect(serializeError(revoked.proxy)).toMatchObject({ type: 'INTERNAL_ERROR', name: 'UnreadableError' });
  });

  test('converts any value to a form that can be sent and stored', () => {
    fc.assert(
      fc.property(
        fc.anything({ withBigInt: true, withMap: true, withSet: true, withDate: true }),
        (thrown) => {
          const { name, message, stackTrace } = serializeError(thrown);
          for (const text of [name, message, stackTrace]) {
            expect(text).not.toContain('\u0000');
            expect(Buffer.from(text).toString()).toBe(text);
          }
        },
      ),
    );
  });
});
