import type { SerializedError } from '@millrace/contract/runner';
import { describe, expect, test } from 'vitest';
import { prepareFailure } from './prepare.ts';

const error = (over: Partial<SerializedError> = {}): SerializedError => ({
  type: 'BUILT_IN_ERROR',
  name: 'TypeError',
  message: 'cannot read x',
  stackTrace: 'TypeError: cannot read x\n    at pay (/app/src/pay.ts:3:9)',
  ...over,
});

describe('a failure is prepared', () => {
  test('into the group of its environment, task and fingerprint', () => {
    const failure = prepareFailure(1, 'pay', error());
    expect(failure.group).toMatch(/^error_[0-9a-f]{16}$/);
    expect(failure.type).toBe('TypeError');
    expect(prepareFailure(1, 'pay', error()).group).toBe(failure.group);
    expect(prepareFailure(1, 'ship', error()).group).not.toBe(failure.group);
    expect(prepareFailure(2, 'pay', error()).group).not.toBe(failure.group);
  });

  test('without older fingerprints, since there is only one version of the algorithm', () => {
    expect(prepareFailure(1, 'pay', error()).older).toEqual([]);
    expect(prepareFailure(1, 'pay', error({ fingerprint: 'mine' })).older).toEqual([]);
  });

  test("under the author's own fingerprint if there is one", () => {
    const failure = prepareFailure(1, 'pay', error({ fingerprint: ' card declined ' }));
    const other = prepareFailure(
      1,
      'pay',
      error({ fingerprint: 'card declined', message: 'something else', stackTrace: '' }),
    );
    expect(failure.fingerprint).toBe('card declined');
    expect(other.group).toBe(failure.group);
    for (const fingerprint of ['', ' \u0000 ', 7, {}] as string[]) {
      expect(prepareFailure(1, 'pay', error({ fingerprint })).group).toBe(
        prepareFailure(1, 'pay', error()).group,
      );
    }
    expect(prepareFailure(1, 'pay', error({ fingerprint: 'x'.repeat(10_000) })).fingerprint).toHaveLength(
      256,
    );
  });

  test('with any content: huge, unstorable or of the wrong type', () => {
    const huge = 'x'.repeat(10_000_000);
    for (const odd of [
      error({ message: huge, stackTrace: huge, name: huge }),
      error({ message: 'a\u0000b\ud800', name: '\udfff', stackTrace: '\u0000', fingerprint: '\ud800' }),
      error({
        name: { toString: null } as unknown as string,
        message: 7 as unknown as string,
        stackTrace: null as unknown as string,
      }),
      error({ name: '__proto__', message: 'constructor', code: 'hasOwnProperty' }),
      error({ causes: 'none' as unknown as SerializedError[] }),
      error({ message: '', name: '', stackTrace: '' }),
    ]) {
      const failure = prepareFailure(1, 'pay', odd);
      const texts = [failure.fingerprint, failure.type, failure.message, failure.sample()];
      for (const text of texts) {
        expect(text).not.toBe('');
        expect(text.isWellFormed()).toBe(true);
        expect(text).not.toContain('\u0000');
        expect(text).not.toMatch(/\\u0000|\\ud[89a-f]/i);
      }
      expect(failure.sample().length).toBeLessThan(25_000);
    }
  });
});
