import { describe, expect, test } from 'vitest';
import { comparable, normaliseMessage, rules } from './message.ts';

const same: [string, string, string][] = [
  ['e-mail addresses', 'User jane@example.com not found', 'User bob.x@corp.org not found'],
  ['numbers of any length', 'Order #1234 not found', 'Order #98 not found'],
  ['numbered documents', 'Invoice INV-00123 already paid', 'Invoice INV-2024-99 already paid'],
  ['durations in any unit', 'Timeout after 30s', 'Timeout after 1500ms'],
  ['compound durations', 'Rate limit: retry in 20s', 'Rate limit: retry in 1m5s'],
  [
    'addresses',
    'Timeout while calling https://api.example/v1/a?b=1',
    'Timeout while calling http://localhost:3000/',
  ],
  ['currency pairs and dates', 'No rate for EUR/USD on 2024-01-02', 'No rate for GBP/PLN on 2023-12-31'],
  [
    'file names and sizes',
    'File report-2024-01.csv is too large (12.5 MB)',
    'File export_final.csv is too large (900 KB)',
  ],
  [
    'names of the file that has a bad row',
    'Row 3 of /tmp/a/x.csv is empty',
    'Row 9 of orders_4.csv is empty',
  ],
  ['names of one format', 'Row 3 of a.xlsx is empty', 'Row 9 of b.xls is empty'],
  ['one and many', '1 item is out of stock', '3 items are out of stock'],
  ['quoted readings', 'reading "cobalt" is not numeric', 'reading "amber" is not numeric'],
  ['quoted data', 'Tenant "acme" has no plan', 'Tenant "globex-inc" has no plan'],
  ['names of people', 'Customer Anna Müller is blocked', 'Customer José Pérez is blocked'],
  [
    'instants',
    'Lock held by worker-3 since 2024-01-01T00:00:00Z',
    'Lock held by worker-12 since 2025-11-01T03:10:00.123+02:00',
  ],
  ['hosts and ports', 'connect ETIMEDOUT 10.0.0.1:5432', 'connect ETIMEDOUT db.internal:6543'],
  ['composed keys', 'Nothing under user:42:profile', 'Nothing under user:7:profile'],
  ['amounts of money', 'Amount $1,234.56 exceeds the limit', 'Amount 12 EUR exceeds the limit'],
  ['coordinates', 'Point 52.2297, 21.0122 is outside', 'Point -33.8688, 151.2093 is outside'],
  ['phone numbers', 'Phone +48 601 234 567 is invalid', 'Phone +1 (415) 555-2671 is invalid'],
  ['ids in request paths', 'GET /users/123 failed with 404', 'GET /users/77?page=2 failed with 404'],
  ['lists of any length', 'Unknown parcels: par_8f3k2', 'Unknown parcels: par_1a2b3, par_9z8y7'],
  ['ids of letters only', 'Parcel par_scmgkeuvmmzeso is lost', 'Parcel par_fw1s703dgy3ba9 is lost'],
  ['values that are named', 'Invalid time zone specified: Mars/Base', 'Invalid time zone specified: Nowhere'],
  ['JSON around a code', 'Said {"code":"FULL","ref":"a1"}', 'Said {"ref":"b2","code":"FULL"}'],
  [
    'where JSON ends',
    "Expected ',' or '}' after property value in JSON at position 20",
    'Unterminated string in JSON at position 3 (line 1 column 4)',
  ],
  [
    'what Node 24 adds about TLS',
    'unable to verify the first certificate',
    'unable to verify the first certificate; if the root CA is installed locally, try running Node.js with --use-system-ca',
  ],
  [
    'the actual value of an assertion',
    'Expected values to be strictly equal:\n\n1 !== 2\n',
    'Expected values to be strictly equal:\n\n40 !== 5\n',
  ],
  [
    'the variable names of a computed call in a bundle',
    'steps[step] is not a function',
    'steps[step2] is not a function',
  ],
  [
    'the name of an import in a bundle',
    'import_orders.total is not a function',
    '(0 , orders_1.total) is not a function',
  ],
  [
    'rows that fail alike',
    'Failed:\n - row 3: "a" is not a number\n - row 9: "b" is not a number',
    'Failed:\n - row 1: "x" is not a number',
  ],
];

const sameAround: [string, string, string][] = [
  [
    'hosts and ports that name no service',
    'connect ETIMEDOUT 10.0.0.1:39001',
    'connect ETIMEDOUT db-7.internal:41022',
  ],
  [
    'hosts that are data',
    'getaddrinfo ENOTFOUND tenant-42.example.com',
    'getaddrinfo ENOTFOUND tenant-7.example.com',
  ],
  [
    'where a deployment lies',
    'GET https://staging.example.com/api/v1/orders/7: 500',
    'GET http://localhost:3000/orders/12: 500',
  ],
  [
    'folders and names of uploads',
    "ENOENT: no such file or directory, open '/tmp/a-X7k/8f3k2.csv'",
    "ENOENT: no such file or directory, open '/srv/lumen/amber.csv'",
  ],
  [
    'names of uploads in known words',
    "ENOENT: no such file or directory, open '/srv/report.csv'",
    "ENOENT: no such file or directory, open '/srv/orders.csv'",
  ],
  [
    'the name of an assertion in a bundle',
    'The expression evaluated to a falsy value:\n\n  assert.ok(order.paid)\n',
    'The expression evaluated to a falsy value:\n\n  (0, import_assert.default)(order2.paid)\n',
  ],
];

const different: [string, string, string][] = [
  ['statuses', 'Request failed with status code 404', 'Request failed with status code 500'],
  ['refusals', 'Webhook evt_1a2b3c was refused with 410', 'Webhook evt_1a2b3c was refused with 500'],
  ['columns', 'column "email" does not exist', 'column "name" does not exist'],
  ['exit codes', 'Process exited with code 1', 'Process exited with code 137'],
  [
    'properties',
    "Cannot read properties of undefined (reading 'id')",
    "Cannot read properties of undefined (reading 'name')",
  ],
  [
    'undefined and null',
    "Cannot read properties of undefined (reading 'id')",
    "Cannot read properties of null (reading 'id')",
  ],
  ['system codes', 'connect ECONNREFUSED 1.2.3.4:1', 'connect ETIMEDOUT 1.2.3.4:1'],
  [
    'system calls',
    "ENOENT: no such file or directory, open '/a/b'",
    "ENOENT: no such file or directory, unlink '/a/b'",
  ],
  ['variables', 'Missing environment variable STRIPE_KEY', 'Missing environment variable DATABASE_URL'],
  ['fields', 'Missing required field: email', 'Missing required field: name'],
  ['signals', 'Killed by signal SIGTERM', 'Killed by signal SIGKILL'],
  ['codes of libraries', 'Prisma error P2002', 'Prisma error P2025'],
  [
    'packages',
    "Cannot find package 'pg' imported from /a/b.js",
    "Cannot find package 'mysql' imported from /a/b.js",
  ],
  ['methods', 'GET /x failed', 'POST /x failed'],
  ['classes, which are not people', 'Cannot bind to RegExp', 'Cannot bind to ArrayBuffer'],
  ['signals without a word for them', 'ffmpeg ended by SIGKILL', 'ffmpeg ended by SIGTERM'],
  ['algorithms', 'Unsupported algorithm RS256', 'Unsupported algorithm HS256'],
  ['codes in pairs', 'response.code=404', 'response.code=500'],
  ['codes in JSON', 'Said {"code":"FULL"}', 'Said {"code":"CLOSED"}'],
  ['endpoints', 'GET https://api.example.com/users/42: 500', 'GET https://api.example.com/orders/42: 500'],
  ['endpoints by path', 'Upstream /v1/invoices returned 502', 'Upstream /v1/payments returned 502'],
  [
    'kinds of files',
    "ENOENT: no such file or directory, open '/srv/app/settings.json'",
    "ENOENT: no such file or directory, open '/data/8f3k2.csv'",
  ],
  ['services that are down', 'connect ECONNREFUSED 10.0.0.1:5432', 'connect ECONNREFUSED 10.0.0.1:6379'],
  ['hosts of services', 'getaddrinfo ENOTFOUND api.stripe.com', 'getaddrinfo ENOTFOUND api.openai.com'],
  ['modules of the app', "Cannot find module './resize'", "Cannot find module './crop'"],
  ['models', 'The model `gpt-5-tiny` does not exist', 'The model `gpt-4-vision` does not exist'],
  [
    'parameters of models',
    "Unsupported value: 'top_p' does not support 0.2",
    "Unsupported value: 'seed' does not support 0.2",
  ],
  ['lengths of columns', 'value too long for type varchar(10)', 'value too long for type varchar(20)'],
  [
    'indexes',
    'E11000 duplicate key error index: email_1 dup key: { email: "a" }',
    'E11000 duplicate key error index: name_1 dup key: { name: "a" }',
  ],
  ['what several programs do', 'Command failed: git pull origin', 'Command failed: git push origin'],
  [
    'the expected value of an assertion',
    "Expected values to be strictly equal:\n\n'draft' !== 'paid'\n",
    "Expected values to be strictly equal:\n\n'draft' !== 'active'\n",
  ],
  [
    'the condition of an assertion',
    'The expression evaluated to a falsy value:\n\n  assert(order.paid)\n',
    'The expression evaluated to a falsy value:\n\n  assert(order.shipped)\n',
  ],
  ['the iterated value', 'this.data.roles is not iterable', 'this.data.tags is not iterable'],
  ['the value that cannot be cloned', '() => 1 could not be cloned.', 'Symbol(x) could not be cloned.'],
  ['database codes', 'error code 1045', 'error code 1062'],
  ['columns with other letters', 'column "größe" does not exist', 'column "länge" does not exist'],
  [
    'formats of the file that has a bad row',
    'Import of kelp-25.csv failed in row 1',
    'Import of amber.xlsx failed in row 7',
  ],
  ['formats before a row', 'orders.csv: row 3 has no price', 'orders-77.json: row 12 has no price'],
  ['formats of quoted files', 'Line 3 of "my orders.csv" is cut', 'Line 9 of "all of May.xml" is cut'],
  ['formats of downloads', 'Bad row in https://a.example/x/1.csv', 'Bad row in https://a.example/x/1.tsv'],
  ['formats by name', 'Row 3 of the CSV has no price', 'Row 3 of the XLSX has no price'],
];

const sameWords: [string, string, string][] = [
  [
    'a word that stands alone among known ones',
    'Path lumen has no second part',
    'Path birch has no second part',
  ],
  ['tiers', 'Unknown tier: silver', 'Unknown tier: gold'],
  ['codes of places', 'Depot QUYW is full', 'Depot BX7K2 is full'],
  ['branches', 'Branch feature/kelp-12 has no preview', 'Branch feature/amber-7 has no preview'],
  [
    'full names without a title',
    "Author Eve O'Neill has no contract",
    'Author Dmitri Volkov has no contract',
  ],
  ['slugs', 'Slug juniper-fjord-65 is already used', 'Slug amber-lumen-3 is already used'],
  [
    'masked secrets',
    'Invalid API Key provided: sk_test_****5cf8',
    'Invalid API Key provided: sk_live_****ab12',
  ],
  ['source excerpts', 'Bad value at line 1:\n\na: lumen\n   ^\n', 'Bad value at line 7:\n\nb: x\n   ^\n'],
  ['the output of a command', 'Command failed: sh -c x\nlumen', 'Command failed: sh -c y\nbirch'],
  [
    'elements by number',
    "Cannot read properties of undefined (reading '4')",
    "Cannot read properties of undefined (reading '11')",
  ],
];
const differentWords: [string, string, string][] = [
  ['words of errors', 'Article is locked', 'Article is hidden'],
  ['fields', 'Missing field nickname', 'Missing field surname'],
  ['other languages', 'Bestellung 4 wurde nicht gefunden', 'Bestellung 5 wurde bereits bezahlt'],
  ['names of code', 'total is not defined', 'price is not defined'],
];

describe('the compared part of a message', () => {
  test.each(sameWords)('forgets %s', (_what, first, second) => {
    expect(comparable(normaliseMessage(first))).toBe(comparable(normaliseMessage(second)));
  });

  test.each(differentWords)('keeps %s apart', (_what, first, second) => {
    expect(comparable(normaliseMessage(first))).not.toBe(comparable(normaliseMessage(second)));
  });
});

describe('a normalized message', () => {
  test.each([...same, ...sameAround])('forgets %s', (_what, first, second) => {
    expect(normaliseMessage(first)).toBe(normaliseMessage(second));
  });

  test.each(different)('keeps %s apart', (_what, first, second) => {
    expect(normaliseMessage(first)).not.toBe(normaliseMessage(second));
  });

  test('is the same when numbers were already normalized', () => {
    expect(normaliseMessage('Row <n> of <n> failed')).toBe('Row <n> of <n> failed');
  });

  const locales =
    'en-US en-IN de-DE de-CH fr-FR fr-CH es-ES pl-PL sv-SE fi-FI hu-HU ru-RU tr-TR he-IL ar-EG fa-IR hi-IN-u-nu-deva bn-BD ta-IN-u-nu-tamldec my-MM th-TH-u-nu-thai ja-JP ja-JP-u-nu-fullwide zh-CN ko-KR km-KH-u-nu-khmr ff-Adlm en-u-nu-mathbold';
  const notations: [string, Intl.NumberFormatOptions][] = [
    ['plain', {}],
    ['fixed', { minimumFractionDigits: 2 }],
    ['percent', { style: 'percent' }],
    ['currency', { style: 'currency', currency: 'EUR' }],
    ['unit', { style: 'unit', unit: 'percent' }],
  ];
  const amounts = [1, 12, 123, 1234, 12_345.5, 1_234_567.89, -1234.5, 0.25, -7];

  test.each(locales.split(' '))('has numbers as Intl formats them for %s', (locale) => {
    for (const [notation, options] of notations) {
      const format = new Intl.NumberFormat(locale, options);
      const sentences = amounts.map((amount) => `Balance of ${format.format(amount)} is too low`);
      expect({ notation, texts: [...new Set(sentences.map((text) => normaliseMessage(text)))] }).toEqual({
        notation,
        texts: ['Balance of <n> is too low'],
      });
    }
  });

  test.each('en-US de-DE fr-FR es-ES pl-PL hu-HU ru-RU ar-EG fa-IR ja-JP zh-CN ko-KR th-TH'.split(' '))(
    'has dates as Intl formats them for %s',
    (locale) => {
      const days = ['2024-03-12T14:05:11Z', '2023-11-02T03:00:00Z', '2024-05-30T23:59:00Z'];
      for (const dateStyle of ['medium', 'long'] as const) {
        const format = new Intl.DateTimeFormat(locale, { dateStyle, timeZone: 'UTC' });
        const texts = days.map((day) => normaliseMessage(`Slot at ${format.format(new Date(day))} is taken`));
        expect([...new Set(texts)]).toHaveLength(1);
      }
    },
  );

  test.each([
    ['2 envois refusés', '<n> envoi refusés'],
    ['3 refusé par l’été', '<n> refusé par l’été'],
    ['12 naïve café été', '<n> naïve café été'],
    ['Zgłoszenie 4 wróciło', 'Zgłoszenie <n> wróciło'],
    ['Błąd w pliku /srv/żółw/dane.csv', 'Błąd w pliku <path>'],
    ['Ключ заказ_8f3k2 занят', 'Ключ заказ_<id> занят'],
    ['Größe12 passt nicht', 'Größe<n> passt nicht'],
    ['Masse 1,2×10^-5 zu klein', 'Masse <n> zu klein'],
    ['Masse 1.2E-5 is too small', 'Masse <n> is too small'],
    ['ファイルreport.pdfが見つかりません', 'ファイル<path>が見つかりません'],
    ['HTTP 404エラー', 'HTTP 404エラー'],
    ['12件のエラー', '<n>件のエラー'],
  ])('ends words where they end: %s', (message, normalised) => {
    expect(normaliseMessage(message)).toBe(normalised);
  });

  test('distinguishes statuses in digits of other scripts', () => {
    expect(normaliseMessage('Request failed with status code ٤٠٤')).toBe(
      'Request failed with status code 404',
    );
  });

  test('is the same for composed and decomposed letters', () => {
    expect(normaliseMessage('Café 3 fermé'.normalize('NFD'))).toBe('Café <n> fermé');
  });

  test('comes from rules that all accept words of every script', () => {
    for (const rule of rules) expect(() => rule.apply('é', false), rule.name).not.toThrow();
  });

  test('comes from rules that all have a name', () => {
    expect(rules.every((rule) => rule.name !== '')).toBe(true);
  });
});
