/** Export of an environment from one server and import into another, with the commands. */
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import type { TestServer } from '../support/server.ts';
import { linesOf, run } from './command.ts';
import { deployTasks, fill, rememberedOf } from './environment.ts';
import { startPair } from './pair.ts';

const ends: (() => Promise<void>)[] = [];
let source: TestServer;
let target: TestServer;
let folder: string;
const path = (name: string): string => join(folder, name);

beforeAll(async () => {
  ({ source, target, folder } = await startPair((end) => void ends.push(end)));
  process.stdout.setMaxListeners(0);
  process.stderr.setMaxListeners(0);
  await fill(source);
  await deployTasks(target);
}, 60_000);
afterEach(() => {
  vi.restoreAllMocks();
  process.exitCode = undefined;
});
afterAll(async () => {
  for (const end of ends.toReversed()) await end();
});

const linesIn = async (name: string) => linesOf(await readFile(path(name), 'utf8'));

test('an export has a header, a line for each record, and a last line; it names secrets, and only its owner may read the file', async () => {
  const result = await run(source, ['export', path('all.ndjson'), '--runs', '--json']);
  expect(result, result.stderr).toMatchObject({ exitCode: 0 });
  expect(linesOf(result.stdout)).toEqual([
    {
      file: path('all.ndjson'),
      counts: {
        environment: 1,
        variable: 3,
        queue: 2,
        retention: 1,
        'run-path': 1,
        endpoint: 3,
        alert: 2,
        'error-rule': 1,
        schedule: 2,
        run: 5,
        'finished-run': 1,
      },
      secretsLeftOut: ['STRIPE_KEY'],
      runsLeftOut: { collected: 1 },
    },
  ]);
  const lines = await linesIn('all.ndjson');
  expect(lines[0]).toMatchObject({ kind: 'millrace-export', version: 1, environment: 'prod' });
  expect(lines.at(-1)).toEqual({ kind: 'end', records: lines.length - 2 });
  expect((await stat(path('all.ndjson'))).mode & 0o777).toBe(0o600);
  const text = await readFile(path('all.ndjson'), 'utf8');
  expect(text).not.toMatch(/sk_live_|whsec_|hooks-secret/);
  const again = await run(source, ['export', path('all.ndjson')]);
  expect([again.exitCode, again.stderr]).toEqual([2, expect.stringContaining('already exists')]);

  const secret = await run(source, ['export', '-', '--only', 'variable', '--secrets']);
  expect(secret, secret.stderr).toMatchObject({ exitCode: 0 });
  expect(linesOf(secret.stdout)).toContainEqual({
    kind: 'variable',
    name: 'STRIPE_KEY',
    isSecret: true,
    value: 'sk_live_0123456789',
  });
});

test('a dry run changes nothing, an import creates everything, and a second import nothing', async () => {
  expect(await run(source, ['export', path('in.ndjson'), '--secrets'])).toMatchObject({ exitCode: 0 });
  const empty = await rememberedOf(target);
  const dry = await run(target, ['import', 'environment', path('in.ndjson'), '--dry-run', '--json']);
  expect(dry, dry.stderr).toMatchObject({ exitCode: 0 });
  expect(linesOf(dry.stdout).at(-1)).toMatchObject({ dryRun: true, runs: { inFile: 5 } });
  expect(await rememberedOf(target)).toEqual(empty);

  const result = await run(target, ['import', 'environment', path('in.ndjson'), '--json']);
  const steps = linesOf(result.stdout);
  // The chat endpoint and a task that is not deployed require manual steps.
  expect(result, result.stdout + result.stderr).toMatchObject({ exitCode: 1 });
  const other = steps
    .filter(({ action }) => action !== 'create')
    .map(({ kind, name, action }) => [kind, name, action]);
  expect(other).toEqual([
    ['endpoint', 'slack https://hooks.example.com', 'by-hand'],
    ['alert', 'runner.none with the chat', 'failed'],
    ['schedule', 'of-cleanup', 'waits'],
    [undefined, undefined, undefined],
  ]);
  expect(steps.at(-1)).toMatchObject({ runs: { create: 5, same: 0, failed: 0 }, failed: 1 });
  expect(steps.find(({ name }) => name === 'webhook https://example.com/hook')).toMatchObject({
    secret: expect.stringMatching(/^whsec_/) as string,
  });
  const imported = await rememberedOf(target);
  const expected = await rememberedOf(source);
  const without = (kind: 'endpoints' | 'alerts' | 'schedules', text: string) =>
    expected[kind].filter((item) => !JSON.stringify(item).includes(text));
  expect(imported).toEqual({
    ...expected,
    endpoints: without('endpoints', 'hooks.example.com'),
    alerts: without('alerts', 'with the chat'),
    schedules: without('schedules', 'of-cleanup'),
  });
  expect(JSON.stringify(imported.runs)).toContain('super+json');

  const again = await run(target, ['import', 'environment', path('in.ndjson'), '--json']);
  // The server repeats its first response to a request that it has stored.
  expect(linesOf(again.stdout).at(-1)).toMatchObject({ runs: { create: 1, same: 4, failed: 0 } });
  const changing = linesOf(again.stdout).filter(({ action }) => action === 'create' || action === 'change');
  expect(changing.map(({ kind }) => kind)).toEqual(['run']);
  expect(await rememberedOf(target)).toEqual(imported);
});

test('differing records are kept, unless --override is given', async () => {
  const set = (value: string) =>
    target.ask(`/api/v1/projects/${target.projectRef}/envvars/prod`, {
      method: 'POST',
      body: { name: 'LOG_LEVEL', value },
    });
  await set('warn');
  const args = ['import', 'environment', path('in.ndjson'), '--only', 'variable,run-path', '--json'];
  const result = await run(target, args);
  expect(result).toMatchObject({ exitCode: 0 });
  expect(linesOf(result.stdout)).toContainEqual(
    expect.objectContaining({ kind: 'variable', name: 'LOG_LEVEL', action: 'keep' }),
  );
  const changed = await run(target, [...args, '--override']);
  expect(linesOf(changed.stdout)).toContainEqual(
    expect.objectContaining({ kind: 'variable', name: 'LOG_LEVEL', action: 'change' }),
  );
  expect((await rememberedOf(target)).variables).toContainEqual(['LOG_LEVEL', 'debug', false]);
});

describe('an invalid file is rejected before anything is written', () => {
  const broken: readonly (readonly [string, (lines: string[]) => string[], RegExp])[] = [
    ['cut off between lines', (lines) => lines.slice(0, -1), /is truncated after line \d+/],
    [
      'truncated in a line',
      (lines) => [...lines.slice(0, 3), lines[3]?.slice(0, 20) ?? ''],
      /Line 4 of .* is not a JSON object/,
    ],
    ['with a line less', (lines) => lines.toSpliced(2, 1), /has \d+ records, but its last line counts \d+/],
    [
      'in a newer format',
      (lines) => [lines[0]?.replace('"version":1', '"version":2') ?? '', ...lines.slice(1)],
      /has format 2, but this Millrace reads up to 1/,
    ],
    ['that is another file', () => ['{"name":"package"}'], /is not a Millrace export: `kind`/],
    ['that is not JSON', () => ['LOG_LEVEL=debug'], /its first line is not a JSON object/],
    [
      'with an unknown kind',
      (lines) => lines.toSpliced(1, 0, '{"kind":"secret"}'),
      /Line 2 of .*: `kind` must be one of environment, variable/,
    ],
    [
      'with an invalid field',
      (lines) => lines.toSpliced(1, 0, '{"kind":"variable","name":"A","isSecret":"no"}'),
      /Line 2 of .*: `isSecret`: /,
    ],
    ['with lines after its end', (lines) => [...lines, lines[1] ?? ''], /comes after the end/],
    ['that is empty', () => [], /is empty/],
  ];
  test.each(broken)('%s', async (_, change, sentence) => {
    const lines = (await readFile(path('in.ndjson'), 'utf8')).trimEnd().split('\n');
    await writeFile(
      path('broken.ndjson'),
      change(lines)
        .map((line) => `${line}\n`)
        .join(''),
    );
    const before = await rememberedOf(target);
    const result = await run(target, ['import', 'environment', path('broken.ndjson'), '--override']);
    expect([result.exitCode, result.stderr]).toEqual([3, expect.stringMatching(sentence)]);
    expect(result.stderr).not.toMatch(/^ +at /m);
    expect(await rememberedOf(target)).toEqual(before);
  });

  test('that does not exist', async () => {
    const result = await run(target, ['import', 'environment', path('none.ndjson')]);
    expect([result.exitCode, result.stderr]).toEqual([3, expect.stringContaining('cannot be read')]);
  });
});

test('a key without the required rights is rejected before anything is written, with the missing rights', async () => {
  const restricted = async (preset: string): Promise<string> => {
    const { status, body } = await target.ask(`/api/v1/projects/${target.projectRef}/prod/keys`, {
      method: 'POST',
      key: target.personalAccessToken,
      body: { name: preset, preset },
    });
    expect(status, JSON.stringify(body)).toBeLessThan(300);
    return body.key as string;
  };
  const before = await rememberedOf(target);
  const key = await restricted('variables-only');
  const result = await run(target, ['import', 'environment', path('in.ndjson'), '--override'], key);
  expect(result.exitCode).toBe(4);
  expect(result.stderr).toMatch(
    /has no permission to import these kinds: .*write:queues \(for environment\).*trigger:tasks \(for run\)/,
  );
  expect(await rememberedOf(target)).toEqual(before);
  const only = await run(target, ['import', 'environment', path('in.ndjson'), '--only', 'variable'], key);
  expect(only, only.stderr).toMatchObject({ exitCode: 0 });
  const observer = await run(target, ['export', path('none.ndjson')], await restricted('observer'));
  expect([observer.exitCode, observer.stderr]).toEqual([
    4,
    expect.stringContaining('read:envvars (for variable)'),
  ]);
  await expect(stat(path('none.ndjson'))).rejects.toThrow('ENOENT');
});

test('control characters in a file or an environment do not reach the terminal', async () => {
  const hostile = '\u001b[31mred\u009b\r\u202e';
  await writeFile(
    path('hostile.ndjson'),
    [
      {
        kind: 'millrace-export',
        version: 1,
        millrace: '0',
        exportedAt: new Date().toISOString(),
        project: hostile,
        environment: hostile,
      },
      { kind: 'error-rule', task: hostile, type: null, message: null, groupKey: hostile },
      { kind: 'end', records: 1 },
    ]
      .map((line) => `${JSON.stringify(line)}\n`)
      .join(''),
  );
  const args = ['import', 'environment', path('hostile.ndjson'), '--dry-run'];
  const [text, json] = [await run(target, args), await run(target, [...args, '--json'])];
  expect(text.stdout).toContain('red');
  for (const result of [text, json])
    expect(result.stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
});

test('a key of another environment, an unknown kind and a personal access token are rejected', async () => {
  const refused = async (args: readonly string[], key?: string) => {
    const { exitCode, stderr } = await run(target, ['export', path('none.ndjson'), ...args], key);
    return [exitCode, stderr];
  };
  expect(await refused(['--env', 'stg'])).toEqual([2, expect.stringContaining('belongs to prod')]);
  expect(await refused(['--only', 'secrets'])).toEqual([2, expect.stringContaining('unknown kind secrets')]);
  expect(await refused(['--period', '7d'])).toEqual([2, expect.stringContaining('requires --runs')]);
  expect(await refused([], target.personalAccessToken)).toEqual([2, expect.stringContaining('secret key')]);
});
