/** A new user follows docs/encryption.md: its files, commands and code, next to `millrace dev`. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { configure, isSealed, runs, tasks, type Codec } from '@millrace/sdk';
import * as sealing from '@millrace/sdk/codec';
import { aesGcmCodec, type AesGcmCodecOptions } from '@millrace/sdk/codec';
import { expect, onTestFinished, test } from 'vitest';
import { besideDev, blocksOf } from '../cli/documented-page.ts';
import { shell } from '../cli/command.ts';

const blocks = await blocksOf('encryption.md');
const [codecFile = '', config = '', program = '', rotated = '', endpoint = ''] = blocks('ts');
const [makeKey = '', trigger = ''] = blocks('sh');
const key = Buffer.alloc(32, 5).toString('base64');

const { printed, ready } = besideDev({
  'codec.key': key,
  'codec.ts': codecFile,
  'millrace.config.ts': config,
  'tasks/welcome.ts': `import { task } from '@millrace/sdk';
export const welcome = task({ id: 'welcome', run: async ({ name }) => 'Welcome, ' + name });`,
});

type Keys = AesGcmCodecOptions['keys'];

/** The codec of a code block, with the keys of the test. */
function codecOf(block: string, keys: Keys): Codec {
  const options = /aesGcmCodec\((\{[^]*\})\)/.exec(block)?.[1] ?? '';
  // oxlint-disable-next-line typescript/no-implied-eval, typescript/no-unsafe-call -- a code block of the page
  const parsed = new Function(`return ${options}`)() as AesGcmCodecOptions;
  return aesGcmCodec({
    ...parsed,
    keys: Object.fromEntries(Object.keys(parsed.keys).map((id) => [id, keys[id]!])),
  });
}
const keys: Keys = { k1: Buffer.alloc(32, 5), k2: Buffer.alloc(32, 6) };

test('the command creates a key that a codec accepts', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'millrace-key-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  await shell(makeKey, dir);
  expect(Buffer.from(await readFile(join(dir, 'codec.key'), 'utf8'), 'base64')).toHaveLength(32);
  const codec = aesGcmCodec({ keys: { k1: { file: join(dir, 'codec.key') } }, current: 'k1' });
  expect(codec.encode('x', { purpose: 'output run_1', type: 'text/plain' })).toMatchObject({ key: 'k1' });
});

test('the command line seals and opens; the server stores sealed data', async () => {
  expect(await printed(trigger)).toMatch(/payload +\{"name":"Ada"\}\n *output +"Welcome, Ada"/);
});

test('the program seals and opens, and its stored data opens after a key change', async () => {
  const first = codecOf(codecFile, keys);
  const lines: unknown[] = [];
  const body = program.replaceAll(/^import .*$/gm, '').replace('configure({ codec })', 'use({ codec })');
  const AsyncFunction = (async () => {}).constructor as new (
    ...parts: string[]
  ) => (...args: unknown[]) => Promise<void>;
  const { url, environments } = ready();
  const use = (more: object): void =>
    configure({ baseURL: url, accessToken: environments.dev.secretKey, ...more });
  await new AsyncFunction('use', 'codec', 'runs', 'tasks', 'console', body)(use, first, runs, tasks, {
    log: (line: unknown) => lines.push(line),
  });
  expect(lines).toEqual(['Welcome, Ada']);
  const { id } = await tasks.trigger('welcome', { name: 'Grace' });
  use({ codec: null });
  expect(isSealed((await runs.poll(id, { pollIntervalMs: 50 })).output)).toBe(true);
  use({ codec: codecOf(rotated, keys) });
  expect((await runs.retrieve(id)).output).toBe('Welcome, Grace');
});

test('the endpoint from the page serves the dashboard', async () => {
  const body = endpoint.replaceAll(/^import .*$/gm, '').replace(/^export .*$/m, 'return handle;');
  const codec = codecOf(codecFile, keys);
  // oxlint-disable-next-line typescript/no-implied-eval, typescript/no-unsafe-call -- a code block of the page
  const handle = new Function('codecHandler', 'codec', body)(sealing.codecHandler, codec) as (
    request: Request,
  ) => Promise<Response>;
  const { data } = (await codec.encode('hello', { purpose: 'output run_1', type: 'text/plain' })) as {
    data: string;
  };
  const values = [{ $sealed: { key: 'k1', for: 'output run_1', type: 'text/plain', data } }];
  const ask = (cookie: string) =>
    handle(
      new Request('https://codec.example.com/open', {
        method: 'POST',
        headers: { origin: 'https://millrace.example.com', cookie },
        body: JSON.stringify({ values }),
      }),
    );
  expect(await (await ask('role=support')).json()).toEqual({ values: [{ value: 'hello' }] });
  expect((await ask('role=guest')).status).toBe(403);
});
