import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { sealError } from '../sealing/errors.ts';
import { seal, type Envelope } from '../sealing/envelope.ts';
import { LineSealer, openLine } from '../sealing/lines.ts';
import { serializeError } from '../executor/serialize-error.ts';
import { aesGcmCodec, codecHandler, isSealed, SealedError, type Codec, type SealedText } from './index.ts';

const keyOf = (n: number) => Buffer.alloc(32, n);
const context = { purpose: 'payload mail', type: 'text/plain' };
const codec = aesGcmCodec({ keys: { k1: keyOf(1), k2: keyOf(2) }, current: 'k2' });
const sealed = (text: string, by: Codec = codec): SealedText => by.encode(text, context) as SealedText;

test('opens values sealed with any of its keys, and seals with the current one', () => {
  const old = aesGcmCodec({ keys: { k1: keyOf(1) }, current: 'k1' });
  expect(codec.decode(sealed('früher 🎈', old), context)).toBe('früher 🎈');
  expect(sealed('x').key).toBe('k2');
  expect(sealed('x').data).not.toBe(sealed('x').data);
  expect(codec.decode(sealed(''), context)).toBe('');
});

test('rejects values that were changed, moved, truncated, or sealed elsewhere, without revealing the text', () => {
  const sample = sealed('hidden');
  const bytes = Buffer.from(sample.data, 'base64');
  for (let at = 0; at < bytes.length; at += 1) {
    const changed = Buffer.from(bytes);
    changed[at]! ^= 1;
    expect(() => codec.decode({ ...sample, data: changed.toString('base64') }, context)).toThrow(SealedError);
  }
  const refused = [
    () => codec.decode(sample, { ...context, purpose: 'payload other' }),
    () => codec.decode(sample, { ...context, type: 'application/json' }),
    () => codec.decode({ ...sample, key: 'k1' }, context),
    () => codec.decode({ ...sample, key: 'constructor' }, context),
    () => codec.decode({ ...sample, data: sample.data.slice(0, 20) }, context),
    () => aesGcmCodec({ keys: { k2: keyOf(2) }, current: 'k2', boundTo: 'other' }).decode(sample, context),
    () => aesGcmCodec({ keys: { k2: keyOf(3) }, current: 'k2' }).decode(sample, context),
  ];
  for (const act of refused) {
    expect(act).toThrow(SealedError);
    expect(act).not.toThrow(/hidden/);
  }
});

test('keys come from a variable, a file or a command; errors name the source and not its content', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'millrace-key-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  process.env['TEST_CODEC_KEY'] = keyOf(1).toString('hex');
  onTestFinished(() => void delete process.env['TEST_CODEC_KEY']);
  await writeFile(join(dir, 'key'), `${keyOf(1).toString('base64')}\n`);
  await writeFile(join(dir, 'short'), 'c2hvcnQtc2VjcmV0');
  const print = `process.stdout.write('${keyOf(1).toString('base64')}')`;
  const of = (source: Parameters<typeof aesGcmCodec>[0]['keys'][string]) =>
    aesGcmCodec({ keys: { k1: source }, current: 'k1' });
  const sample = sealed('x', of(keyOf(1)));
  for (const source of [
    { env: 'TEST_CODEC_KEY' },
    { file: join(dir, 'key') },
    { command: [process.execPath, '-e', print] as const },
  ])
    expect(of(source).decode(sample, context)).toBe('x');
  expect(() => sealed('x', of({ env: 'TEST_NOT_SET' }))).toThrow('the variable TEST_NOT_SET is not set');
  expect(() => sealed('x', of({ file: join(dir, 'none') }))).toThrow(/cannot be read \(ENOENT\)/);
  expect(() => sealed('x', of({ file: join(dir, 'short') }))).toThrow(/must be 32 bytes .* it has 12/);
  expect(() => sealed('x', of({ file: join(dir, 'short') }))).not.toThrow(/c2hv/);
  const failing = {
    command: [process.execPath, '-e', `console.log('top secret'); process.exit(3)`] as const,
  };
  expect(() => sealed('x', of(failing))).toThrow(/did not print the key \(exit code 3\)\.$/);
  expect(() => sealed('x', of({} as never))).toThrow(/\{ env \}, \{ file \}/);
  expect(() => aesGcmCodec({ keys: {}, current: 'k1' })).toThrow(/which is not in keys/);
});

test('a sealed error keeps its frames, but not a message that looks like frames', async () => {
  const sealedError = async (error: unknown) => sealError(codec, serializeError(error), 'error run_1');
  const plain = await sealedError(new RangeError('secret 1'));
  expect(plain).toMatchObject({
    type: 'BUILT_IN_ERROR',
    name: 'RangeError',
    message: 'The message is sealed.',
  });
  expect(plain.stackTrace).toMatch(/^RangeError: The message is sealed\.\n\s+at .*codec\.test\.ts/);
  const changed = new Error('secret\n    at secret (secret.ts:1:2)');
  const moved = new Error('old secret\n    at secret (secret.ts:1:2)');
  moved.message = 'new';
  const shorter = new Error('secret');
  shorter.stack = 'Error: secret of something else\n    at secret (secret.ts:1:2)';
  const named = Object.assign(new Error('secret'), { code: 'E_CODE', fingerprint: 'mine' });
  for (const error of [changed, moved, shorter, 'secret', { secret: 1 }, new Error(''), named]) {
    const { sealed: envelope, ...clear } = await sealedError(error);
    expect(JSON.stringify(clear)).not.toContain('secret.ts');
    expect(JSON.stringify(clear)).not.toMatch(/secret[^.]/);
    expect(isSealed(JSON.parse(envelope!))).toBe(true);
  }
  expect(await sealedError(named)).toMatchObject({ code: 'E_CODE', fingerprint: 'mine' });
  const broken: Codec = { ...codec, encode: () => Promise.reject(new Error('secret key')) };
  const lost = await sealError(broken, serializeError(new Error('secret')), 'error run_1');
  expect(lost).toMatchObject({ message: 'The message could not be sealed, and was not sent.' });
  expect(JSON.stringify(lost)).not.toMatch(/secret/);
});

test('lines are sealed in order, also by an asynchronous codec, and cut to the line limit', async () => {
  const lines: { message: string; properties?: string }[] = [];
  let n = 0;
  const slow: Codec = {
    ...codec,
    async encode(text, how) {
      await new Promise((done) => setTimeout(done, 20 - 5 * n++));
      if (text.includes('bad')) throw new Error('bad');
      return codec.encode(text, how);
    },
  };
  const sealer = new LineSealer(slow, 'run_1', (line) => void lines.push(line));
  const line = (message: string, properties?: string) =>
    sealer.add({ at: 1, level: 'info', message, ...(properties !== undefined && { properties }) });
  line('first', '{"a":1}');
  line('bad');
  line('"ß'.repeat(60_000), JSON.stringify({ long: 'x'.repeat(60_000) }));
  await sealer.end();
  expect(lines.map(({ message }) => message)).toEqual([
    '(sealed)',
    expect.stringContaining('could not'),
    '(sealed)',
  ]);
  for (const { properties = '' } of lines) expect(properties.length).toBeLessThanOrEqual(65_536);
  const open = (at: number) =>
    openLine(
      codec,
      { message: '(sealed)', properties: JSON.parse(lines[at]!.properties!) as unknown },
      'run_1',
    );
  expect(await open(0)).toEqual({ message: 'first', properties: { a: 1 } });
  expect((await open(2)).message).toMatch(/^("ß)+… \(\d+ more characters\)$/);
});

test('the endpoint opens values for authorized requests from the listed origins', async () => {
  const origin = 'https://millrace.example.com';
  const handle = codecHandler(codec, {
    origins: [origin],
    authorize: (request) => request.headers.get('cookie') === 'user=ada',
  });
  const ask = async (
    body: unknown,
    init: Omit<RequestInit, 'headers'> & { headers?: Record<string, string> } = {},
  ) => {
    const response = await handle(
      new Request('https://codec.example.com/', {
        method: 'POST',
        body: typeof body === 'string' ? body : JSON.stringify(body),
        ...init,
        headers: { origin, cookie: 'user=ada', ...init.headers },
      }),
    );
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: text && (JSON.parse(text) as unknown),
    };
  };
  const values = [
    await seal(codec, { text: '{"a":1}', type: 'application/json' }, 'payload mail'),
    await seal(codec, { text: 'plain', type: 'text/plain' }, 'output run_1'),
  ];
  const moved: Envelope = { $sealed: { ...values[0]!.$sealed, for: 'payload other' } };
  const opened = await ask({ values: [...values, moved] });
  expect(opened).toMatchObject({
    status: 200,
    body: {
      values: [
        { value: { a: 1 } },
        { value: 'plain' },
        { error: expect.stringContaining('cannot be opened') },
      ],
    },
  });
  expect(opened.headers.get('access-control-allow-origin')).toBe(origin);
  expect((await ask({ values }, { headers: { cookie: 'user=eve' } })).status).toBe(403);
  const foreign = await ask({ values }, { headers: { origin: 'https://evil.example.com' } });
  expect([foreign.status, foreign.headers.get('access-control-allow-origin')]).toEqual([403, null]);
  const preflight = await ask(undefined, { method: 'OPTIONS', body: null, headers: { cookie: '' } });
  expect([preflight.status, preflight.headers.get('access-control-allow-headers')]).toEqual([
    204,
    'content-type',
  ]);
  for (const body of ['', '{', '{"values":[1]}', '{"values":{}}', 'null'])
    expect((await ask(body)).status).toBe(400);
  expect((await ask({ values: Array.from({ length: 1_001 }, () => values[0]) })).status).toBe(413);
  expect((await ask(undefined, { method: 'GET', body: null })).status).toBe(405);
  expect(() => codecHandler(codec, { origins: ['https://a.example.com/'], authorize: () => true })).toThrow(
    /origins/,
  );
  expect(() => codecHandler({} as never, { origins: [], authorize: () => true })).toThrow(/must be a codec/);
});
