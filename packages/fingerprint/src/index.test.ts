import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { earlierIds, fingerprint, type ThrownError } from './index.ts';
import { hostileTexts } from './testing/hostile.ts';
import { numRuns } from '../../../test/support/long.ts';

const error = (name: string, message: string, ...frames: string[]): ThrownError => ({
  taskIdentifier: 'charge',
  name,
  message,
  stack: [`${name}: ${message}`, ...frames.map((frame) => `    at ${frame}`)].join('\n'),
});
const same = (first: ThrownError, second: ThrownError) =>
  expect(fingerprint(first).id).toBe(fingerprint(second).id);
const different = (first: ThrownError, second: ThrownError) =>
  expect(fingerprint(first).id).not.toBe(fingerprint(second).id);

describe('one bug keeps its fingerprint', () => {
  const plain = error(
    'Error',
    'Not implemented',
    'PaypalGateway.capture (file:///app/src/gateways.ts:36:11)',
    'async settle (file:///app/src/billing.ts:17:3)',
  );

  test('in a bundle, where classes are renamed and files are gone', () => {
    same(
      plain,
      error(
        'Error',
        'Not implemented',
        '_PaypalGateway.capture (/srv/x/main.cjs:46021:11)',
        'async settle2 (/srv/x/main.cjs:1:3)',
      ),
    );
  });

  test('in another folder and on another line', () => {
    same(plain, error('Error', 'Not implemented', 'PaypalGateway.capture (C:\\deploy\\7\\gateways.js:40:1)'));
  });

  test('when a class is renamed by a bundler', () => {
    same(
      error('Declined', 'no', 'charge (/app/a.js:1:1)'),
      error('_Declined', 'no', 'charge (/app/a.js:1:1)'),
    );
  });

  test('when Node 24 leaves out the frames of fetch that Node 20 shows', () => {
    same(
      error(
        'TypeError',
        'fetch failed',
        'node:internal/deps/undici/undici:14976:13',
        'async load (/app/a.js:1:1)',
      ),
      error('TypeError', 'fetch failed'),
    );
  });

  test('when a query builder wraps the error of the database', () => {
    const answer = error('error', 'relation "ghosts" does not exist', 'load (/app/a.js:1:1)');
    const query = 'Failed query: select "id" from "ghosts" where "id" = $1\nparams: 7';
    same(answer, { ...error('DrizzleQueryError', query, 'load (/app/a.js:1:1)'), causes: [answer] });
  });

  test('when an assertion cannot read its source in a bundle', () => {
    const frame = 'checkOrder (/app/a.js:1:1)';
    same(
      error('AssertionError', 'The expression evaluated to a falsy value:\n\n  assert(order)\n', frame),
      error('AssertionError', 'undefined == true', frame),
    );
  });

  test('in a bundle without a source map, where functions of libraries come long before those of the app', () => {
    same(
      error('Error', 'Bad token', 'readToken (/app/tokens.js:3:1)', 'load (/app/a.js:1:1)'),
      error(
        'Error',
        'Bad token',
        'decodeSegment (/app/main.mjs:2104:1)',
        'readToken (/app/main.mjs:9113:1)',
        'load (/app/main.mjs:9204:1)',
      ),
    );
  });

  test('when util.inspect leaves out the frames that its cause shows', () => {
    same(error('Error', 'no', 'readToken (/app/tokens.js:3:1)', 'load (/app/a.js:1:1)'), {
      taskIdentifier: 'charge',
      name: 'Error',
      message: 'no',
      stack:
        'Error: no\n    at wrap (/app/node_modules/lib/a.js:1:1)\n    ... 2 lines matching cause stack trace ...\n    at main (/app/m.js:1:1) {\n  [cause]: Error: no\n      at readToken (/app/tokens.js:3:1)\n      at load (/app/a.js:1:1)\n}',
    });
  });

  test('when source lines come before the header', () => {
    const stack =
      'rule.js:2\nreturn 1 +;\n^^^^^^\n\nSyntaxError: Illegal return statement\n    at compile (/app/a.js:1:1)';
    same(
      { name: 'SyntaxError', message: 'Illegal return statement', stack },
      {
        name: 'SyntaxError',
        message: 'Illegal return statement',
        stack: stack.slice(stack.indexOf('SyntaxError')),
      },
    );
  });

  test('when a build puts a helper elsewhere or inlines it', () => {
    same(
      error('Error', 'DB_URL is missing', 'must (/app/a.js:1:1)', 'readConfig (/app/b.js:9:1)'),
      error('Error', 'DB_URL is missing', 'readConfig (/app/main.mjs:9:1)'),
    );
  });

  test('when its own class created it', () => {
    same(
      error('Rejected', 'Claim is late', 'Rejected.late (/app/a.js:1:1)', 'submit (/app/b.js:9:1)'),
      error('Rejected', 'Claim is late', 'submit (/app/b.js:9:1)'),
    );
  });

  test('when a library repeats the cause in the stack', () => {
    const stack = 'AxiosError: read ECONNRESET\n    at get (/app/a.js:1:1)';
    same(
      { name: 'AxiosError', message: 'read ECONNRESET', stack },
      {
        name: 'AxiosError',
        message: 'read ECONNRESET',
        stack: `${stack}\nCaused by: Error: read ECONNRESET\n    at x (/a:1:1)`,
      },
    );
  });
});

describe('two bugs have two fingerprints', () => {
  test('when the method of another class throws the same message', () => {
    different(
      error('Error', 'Not implemented', 'PaypalGateway.capture (/app/a.js:1:1)'),
      error('Error', 'Not implemented', 'AdyenGateway.capture (/app/a.js:1:1)'),
    );
  });

  test('when a helper throws for two callers', () => {
    different(
      error('Error', 'no body', 'assertOk (/app/a.js:1:1)', 'loadUser (/app/a.js:9:1)'),
      error('Error', 'no body', 'assertOk (/app/a.js:1:1)', 'loadOrder (/app/a.js:9:1)'),
    );
  });

  test('when an accessor of a store throws for two callers', () => {
    different(
      error('NotFound', 'No such vessel', 'Store.get (/app/a.js:1:1)', 'planArrival (/app/b.js:9:1)'),
      error('NotFound', 'No such vessel', 'Store.get (/app/a.js:1:1)', 'planDeparture (/app/b.js:9:1)'),
    );
  });

  test('when an HTTP client throws the same status for two callers', () => {
    different(
      error('Error', 'Server answered 503', 'loadJson (/app/http.js:1:1)', 'loadRates (/app/a.js:9:1)'),
      error('Error', 'Server answered 503', 'loadJson (/app/http.js:1:1)', 'loadTaxes (/app/a.js:19:1)'),
    );
  });

  test.each([
    ['importCsv', 'importXlsx'],
    ['readCSV', 'readJSON'],
    ['CsvReader.rows', 'XmlReader.rows'],
    ['parse_csv', 'parse_excel'],
  ])('when %s and %s share the check of a row', (first, second) => {
    const thrown = (reader: string, ...between: string[]) =>
      error(
        'RowError',
        'Row 3 has no price',
        'checkRow (/app/rows.js:1:1)',
        ...between.map((name) => `${name} (/app/rows.js:30:1)`),
        `${reader} (/app/import.js:9:1)`,
        'Object.run (/app/import.js:90:1)',
      );
    different(thrown(first), thrown(second));
    different(thrown(first, 'importRows'), thrown(second, 'importRows'));
    same(thrown(first), thrown(first, 'importRows'));
  });

  test('when two methods of a class call the same method', () => {
    different(
      error('Error', 'no such shelf', 'Shelves.rows (/app/a.js:1:1)', 'Shelves.move (/app/a.js:9:1)'),
      error('Error', 'no such shelf', 'Shelves.rows (/app/a.js:1:1)', 'Shelves.count (/app/a.js:19:1)'),
    );
  });

  test('when the connections of two functions are refused', () => {
    const refused = 'connect ECONNREFUSED 127.0.0.1:5432';
    different(
      error('Error', refused, 'loadOrders (/app/a.js:1:1)'),
      error('Error', refused, 'loadStock (/app/a.js:9:1)'),
    );
  });

  test('when two statements fail and the response names nothing', () => {
    const slow = 'canceling statement due to statement timeout';
    different(
      error('error', slow, 'countVisits (/app/a.js:1:1)'),
      error('error', slow, 'report (/app/a.js:9:1)'),
    );
  });

  test('when the factory of an error class creates it for two callers', () => {
    const factory = 'LibraryError.limit (/app/errors.js:1:1)';
    different(
      error('LibraryError', 'Too many books', factory, 'borrow (/app/a.js:1:1)'),
      error('LibraryError', 'Too many books', factory, 'renew (/app/a.js:9:1)'),
    );
  });

  test('when a command ended with another exit code that only the code property contains', () => {
    const failed = error('Error', 'Command failed: convert in.png', 'render (/app/a.js:1:1)');
    different({ ...failed, code: 2 }, { ...failed, code: 7 });
  });

  test('when a library throws the same message to two functions', () => {
    const library = 'send (/app/node_modules/@aws-sdk/core/index.js:1:1)';
    different(
      error('NoSuchKey', 'The specified key does not exist.', library, 'loadPoster (/app/a.js:1:1)'),
      error('NoSuchKey', 'The specified key does not exist.', library, 'loadTrailer (/app/a.js:9:1)'),
    );
  });

  test('when the class differs', () => {
    different(
      error('Declined', 'no', 'charge (/app/a.js:1:1)'),
      error('Refused', 'no', 'charge (/app/a.js:1:1)'),
    );
  });

  test('when only the class distinguishes two gateways', () => {
    different(
      error('Error', 'Refund of 5 EUR exceeds the captured amount', 'Paypal.refund (/app/a.js:1:1)'),
      error('Error', 'Refund of 9 EUR exceeds the captured amount', 'Adyen.refund (/app/a.js:1:1)'),
    );
  });

  test('when the multi-line message of a cause that is only written in the stack differs', () => {
    const failed = (path: string) => ({
      name: 'Error',
      message: 'Bad payload',
      stack: `Error: Bad payload\n    at load (/app/a.js:1:1) {\n  [cause]: ZodError: [\n    {\n      "code": "invalid_type",\n      "path": [\n        "${path}"\n      ]\n    }\n  ]\n      at load (/app/a.js:2:1)\n}`,
    });
    different(failed('email'), failed('source'));
  });

  test('when the multi-line message of a cause without frames differs', () => {
    const failed = (path: string) => ({
      name: 'Error',
      message: 'Bad letter',
      stack: `Error: Bad letter\n    at check (/app/a.js:1:1)\n[cause]: ZodError: [\n  {\n    "code": "too_big",\n    "path": [\n      "${path}"\n    ]\n  }\n]`,
    });
    different(failed('subject'), failed('language'));
  });

  test('when a class of the app has the same name as one of a library', () => {
    different(
      error(
        'AxiosError',
        'Request failed with status code 409',
        'Channel.push (/app/a.js:1:1)',
        'sync (/app/b.js:1:1)',
      ),
      error(
        'AxiosError',
        'Request failed with status code 409',
        'Channel.pull (/app/a.js:1:1)',
        'sync (/app/b.js:1:1)',
      ),
    );
  });

  test('when the cause differs', () => {
    const failed = { name: 'TypeError', message: 'fetch failed', stack: '' };
    const cause = (code: string) => ({ name: 'Error', message: `connect ${code} 10.0.0.1:443` });
    different({ ...failed, causes: [cause('ECONNREFUSED')] }, { ...failed, causes: [cause('ETIMEDOUT')] });
  });

  test('when only the cause of a cause differs', () => {
    const failed = (code: string): ThrownError => ({
      ...error('Error', 'Import failed', 'load (/app/a.js:1:1)'),
      causes: [
        { name: 'Error', message: 'No place', causes: [{ name: 'Error', message: `Stock is ${code}` }] },
      ],
    });
    different(failed('gone'), failed('held'));
  });

  test('when the cause is only written in the stack', () => {
    const failed = (code: string) => ({
      name: 'TypeError',
      message: 'fetch failed',
      stack: `TypeError: fetch failed {\n  [cause]: Error: connect ${code} 10.0.0.1:443\n}`,
    });
    different(failed('ECONNREFUSED'), failed('ETIMEDOUT'));
  });

  test('when objects with different codes are thrown', () => {
    different({ message: '{"code":"A","at":1}' }, { message: '{"code":"B","at":1}' });
  });
});

describe('a fingerprint', () => {
  test('is computed for any value without throwing, and can be stored', () => {
    const anything = fc.oneof(
      fc.anything({ withNullPrototype: true, withBigInt: true }),
      fc.string({ unit: 'binary', maxLength: 300 }),
    );
    fc.assert(
      fc.property(anything, anything, anything, anything, (name, message, stack, causes) => {
        const found = fingerprint({ name, message, stack, causes } as ThrownError);
        expect(found.id).toMatch(/^m2-[0-9a-f]{32}$/);
        expect(found.parts.type).not.toBe('');
        expect(found.parts.message).not.toBe('');
        expect(found.parts.message.length).toBeLessThanOrEqual(500);
        expect(found.parts.type + found.parts.message).not.toMatch(/\u0000|\p{Surrogate}/u);
        expect(found.why).toHaveLength(5);
        expect(fingerprint({ name, message, stack, causes } as ThrownError)).toEqual(found);
      }),
      { numRuns: numRuns(500) },
    );
  });

  test('is computed for objects whose getters throw and for keys of Object.prototype', () => {
    const hostile = Object.defineProperty({}, 'message', {
      get: () => {
        throw new Error('no');
      },
      enumerable: true,
    });
    expect(fingerprint(hostile as ThrownError).parts.type).toBe('String');
    expect(
      fingerprint(
        JSON.parse('{"name":"__proto__","message":"constructor","stack":"toString"}') as ThrownError,
      ).parts.message,
    ).toBe('constructor');
    expect(fingerprint(undefined as unknown as ThrownError).parts.message).not.toBe('');
  });

  test('does not depend on the numbers and ids in a message', () => {
    fc.assert(
      fc.property(fc.nat(), fc.uuid(), fc.nat(), fc.uuid(), (first, id, second, otherId) => {
        same(
          error('Error', `Row ${first} of ${id} is late`, 'load (/a.js:1:1)'),
          error('Error', `Row ${second} of ${otherId} is late`, 'load (/a.js:1:1)'),
        );
      }),
    );
  });

  // The goal of 50 ms is measured by bench/fingerprint.ts; quadratic time in a megabyte would take minutes.
  test('of one megabyte of any difficult input is computed quickly', () => {
    const texts = hostileTexts(1_000_000);
    // If a letter is not ASCII, the patterns for words in any script are used.
    for (const { name, text } of [
      ...texts,
      ...texts.map(({ name: of, text: ascii }) => ({ name: `${of}, é`, text: `é${ascii}` })),
    ]) {
      const started = performance.now();
      fingerprint({ name: text, message: text, stack: `Error: ${text}\n${text}` });
      const took = performance.now() - started;
      expect({ name, slow: took >= 1_000 }).toEqual({ name, slow: false });
    }
  });

  test('takes no more time for ten megabytes than for the bounded part', () => {
    const time = (length: number) => {
      const text = 'a.b-c@1/2:3 '.repeat(length / 12);
      const rounds = [1, 2, 3, 4, 5].map(() => {
        const started = performance.now();
        fingerprint({ name: 'Error', message: text, stack: text });
        return performance.now() - started;
      });
      return Math.min(...rounds);
    };
    time(60_000);
    expect(time(12_000_000)).toBeLessThan(20 * time(60_000) + 20);
  });
});

describe('the explanation of a fingerprint', () => {
  test('contains its parts, and how each was decided', () => {
    const { parts, why } = fingerprint({
      ...error(
        'Error',
        'Order 17 of jane@example.com was refused',
        'PaypalGateway.capture (file:///app/src/gateways.ts:36:11)',
        'async charge (file:///app/src/billing.ts:17:3)',
      ),
      causes: [{ name: 'Error', message: 'connect ECONNREFUSED 10.0.0.1:5432' }],
    });
    expect(parts).toMatchObject({
      type: 'Error',
      message: 'Order <n> of <email> was refused',
      frames: ['PaypalGateway.capture', 'charge'],
      compared: 'Order <> of <> was refused',
      origin: 'PaypalGateway.capture',
      causes: ['ECONNREFUSED postgres'],
    });
    expect(why).toEqual([
      'Task: charge.',
      'Class: Error.',
      'Message: compared as "Order <> of <> was refused", after the rules e-mail, number.',
      'Origin: PaypalGateway.capture.',
      'Causes: ECONNREFUSED postgres.',
    ]);
  });

  test('contains the family that replaces the class', () => {
    const { parts, why } = fingerprint(error('TypeError', 'fetch failed'));
    expect(parts.family).toBe('network');
    expect(why[1]).toBe('Class: any of the family "network", instead of TypeError.');
  });
});

test('has no earlier version of the rules yet', () => {
  expect(earlierIds(error('Error', 'a'))).toEqual([]);
});
