import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { newSecretKey } from '../../auth/keys.ts';
import { atOnce } from '../../json/parts.ts';
import { compile } from './matcher.ts';
import { redactTexts, redactLines, redactOutcome } from './messages.ts';
import { createRedactor } from './redactor.ts';
import { encodingsOf } from './encodings.ts';
import { numRuns } from '../../../../../test/support/long.ts';

const secret = 'sk_live_51/Qz+8 "é"\\w?';
const redactor = createRedactor([secret, 'postgres://app:p%40ss%2Fw0rd-9@db.internal/app']);

const pem = `-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0B\nAQEFAASCBKcwggSjAgEAAoIB\n-----END KEY-----\n`;

describe('a secret is redacted', () => {
  test.each([
    ['verbatim', secret],
    ['in JSON', JSON.stringify({ [secret]: secret })],
    ['in JSON within JSON', JSON.stringify({ a: JSON.stringify([secret]) })],
    ['in base64', Buffer.from(secret).toString('base64')],
    ['in base64url after a user name', Buffer.from(`user:${secret}`).toString('base64url')],
    ['in base64 between others', Buffer.from(`ab${secret}cd`).toString('base64')],
    ['encoded for a URL', `https://api.test/?key=${encodeURIComponent(secret)}`],
    ['in a form', new URLSearchParams({ key: secret }).toString()],
    ['encoded in lower case', encodeURIComponent(secret).replaceAll(/%../g, (code) => code.toLowerCase())],
  ])('%s', (_, text) => {
    const clean = redactor.text(text);
    expect(clean).toContain('<redacted>');
    for (const spelling of encodingsOf(secret)) expect(clean).not.toContain(spelling);
  });

  test('if only its password appears, encoded as in the address or decoded', () => {
    expect(redactor.text('denied for app with p%40ss%2Fw0rd-9')).toBe('denied for app with <redacted>');
    expect(redactor.text('denied for app with p@ss/w0rd-9.')).toBe('denied for app with <redacted>.');
  });

  test('line by line if it has several', () => {
    const key = createRedactor([pem]);
    const inspected = pem
      .split('\n')
      .map((line) => `    '${line}\\n' +`)
      .join('\n');
    expect(key.text(inspected)).not.toMatch(/MIIE|AQEF/);
    expect(key.text(`key ${pem.trim()} end`)).toBe('key <redacted> end');
  });

  test('where truncation left only its beginning', () => {
    const long = createRedactor(['0123456789abcdef0123456789abcdef']);
    expect(long.text('error: 0123456789ab…')).toBe('error: <redacted>…');
    expect(long.text('error: 0123456789abcdef01… (512 more characters)')).toBe(
      'error: <redacted>… (512 more characters)',
    );
    expect(long.text('error: 0123456789xx…')).toBe('error: 0123456789xx…');
  });

  test('never if it is only whitespace, which every indented text contains', () => {
    const blank = createRedactor(['', ' ', ' '.repeat(12), '\n'.repeat(9)]);
    const text = `a${' '.repeat(20)}b${'\n'.repeat(20)}c`;
    expect(blank.text(text)).toBe(text);
  });

  test('once for overlapping spellings', () => {
    const two = createRedactor(['abcdefgh1234', 'gh123456789']);
    expect(two.text('x abcdefgh123456789 y')).toBe('x <redacted> y');
  });
});

describe('JSON stays valid', () => {
  test('in values, in names and in numbers', () => {
    const pin = createRedactor(['12345678', 'correct horse']);
    expect(JSON.parse(pin.json('{"correct horse":[12345678,"a 12345678"],"n":1}'))).toEqual({
      '<redacted>': ['<redacted>', 'a <redacted>'],
      n: 1,
    });
  });

  test('even when the secret looks like JSON', () => {
    const odd = createRedactor(['","b":"c","d":"']);
    expect(odd.json('{"a":"x","b":"c","d":"y"}')).toBe('"<redacted>"');
  });

  test('text without secrets is unchanged', () => {
    const text = '{ "a" : 1.0 }';
    expect(redactor.json(text)).toBe(text);
  });
});

test('values too short to be distinguished from words are not searched for', () => {
  const text = 'a short 1234567 text';
  expect(createRedactor(['short', '1234567', '']).text(text)).toBe(text);
});

test('the secret is removed everywhere in runner messages, and nothing else changes', () => {
  const error = {
    type: 'CUSTOM_ERROR',
    name: `E${secret}`,
    message: `no ${secret}`,
    stackTrace: `Error: ${secret}\n    at f (a.ts:1:1)`,
    code: secret,
    causes: [{ type: 'BUILT_IN_ERROR', name: 'E', message: secret, stackTrace: '' }],
  } as const;
  const outcomes = [
    redactOutcome(redactor, { kind: 'failed', status: 'FAILED', error }),
    redactOutcome(redactor, { kind: 'retry', delayMs: 1, error }),
    redactOutcome(redactor, { kind: 'completed', output: `"${secret}"`, outputType: 'text/plain' }),
  ];
  const redactedText = JSON.stringify([
    outcomes,
    redactLines(redactor, [
      {
        run: 'run_1',
        attempt: 1,
        at: 1,
        level: 'info',
        message: secret,
        properties: JSON.stringify({ secret }),
      },
    ]),
    redactTexts(redactor, error),
  ]);
  for (const spelling of encodingsOf(secret)) expect(redactedText).not.toContain(spelling);
  expect(redactedText).toContain('at f (a.ts:1:1)');
  expect(redactOutcome(redactor, { kind: 'canceled' })).toEqual({ kind: 'canceled' });
});

test('the matcher finds exactly the matches of a search for each pattern', () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 8, maxLength: 12 });
  const property = fc.property(
    fc.uniqueArray(letters, { maxLength: 6 }),
    fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 60 }),
    (patterns, filler) => {
      const text = `${filler}${patterns.join('c')}${filler}`;
      const covered = (spans: readonly { from: number; to: number }[]) =>
        Array.from(text, (_, at) => spans.some(({ from, to }) => from <= at && at < to));
      const naive = patterns.flatMap((pattern) =>
        Array.from(text, (_, from) => ({ from, to: from + pattern.length })).filter(({ from }) =>
          text.startsWith(pattern, from),
        ),
      );
      expect(covered(compile(patterns)(text))).toEqual(covered(naive));
      const inParts: { from: number; to: number }[] = [];
      for (let from = 0; from < text.length; from += 5)
        compile(patterns)(text, from, Math.min(text.length, from + 5), inParts);
      expect(inParts).toEqual(compile(patterns)(text));
    },
  );
  fc.assert(property, { numRuns: numRuns(500) });
});

describe('a long text in parts', () => {
  const phrase = 'correct horse battery';
  const two = createRedactor([phrase, '0123456789abcdef', 'line one of a key\nand line two of it']);
  const key = newSecretKey('prod');
  const attempt = `svc_run_eyJhbGciOiJIUzI1NiJ9.eyJydW4iOiJydW5fMSJ9.${'x-_'.repeat(14)}`;
  /** Number of characters in a part. */
  const part = 256 * 1024;

  test('is redacted like a whole text, regardless of where its parts end', () => {
    const ends = [0, 1, 8, 21, 22, 63, 64, 65].map((before) => part - before);
    for (const found of [phrase, key, attempt, `${phrase}${key}`, 'and nothing']) {
      for (const end of [...ends, 2 * part - 30]) {
        const text = `${'x '.repeat(part).slice(0, end)}${found} ${'y'.repeat(part)} ${found}`;
        const clean = atOnce(two.parts(text, false));
        // Avoids matchers that would print the texts.
        expect([found, end, clean === two.text(text), clean.includes(phrase)]).toEqual([
          found,
          end,
          true,
          false,
        ]);
        const json = JSON.stringify([text, { [text]: `\t${found}`, n: 1, list: [found, null] }]);
        expect([found, end, atOnce(two.parts(json, true)) === two.json(json)]).toEqual([found, end, true]);
      }
    }
  });

  test('is redacted for thousands of secrets, and for the start of one before a truncation', () => {
    const text = `${`${phrase}, 0123456789abcdef. `.repeat(20_000)}0123456789ab…`;
    const clean = atOnce(two.parts(text, false));
    expect(clean).toBe(`${'<redacted>, <redacted>. '.repeat(20_000)}<redacted>…`);
    const json = JSON.stringify(Array.from({ length: 10_000 }, () => ({ [phrase]: `a ${phrase} b` })));
    expect(JSON.parse(atOnce(two.parts(json, true)))).toEqual(
      Array.from({ length: 10_000 }, () => ({ '<redacted>': 'a <redacted> b' })),
    );
  });
});

test('any secret is removed from any surrounding text, in every encoding', () => {
  const property = fc.property(
    fc.string({ minLength: 8, maxLength: 40, unit: 'binary' }),
    fc.string({ maxLength: 20 }),
    (value, around) => {
      fc.pre(value.isWellFormed() && !value.includes('\0') && value.trim().length >= 8);
      const own = createRedactor([value]);
      for (const spelling of encodingsOf(value)) {
        expect(own.text(`${around}${spelling}${around}`)).not.toContain(spelling);
        expect(own.json(JSON.stringify([`${around}${spelling}`]))).not.toContain(spelling);
      }
    },
  );
  fc.assert(property, { numRuns: numRuns(100) });
});
