import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { repository } from '../cli/command.ts';
import { packAll, published, run, type Packed } from './packed.ts';

let packed: Packed;
beforeAll(async () => {
  packed = await packAll();
}, 120_000);
afterAll(() => packed?.remove());

/** `require` of an ES module works in every Node that is promised, 20.19 and later, and TypeScript 5.8 knows it. */
const accepted = new Set(['CJSResolvesToESM']);

describe.each(published)('the tarball of packages/%s', (name) => {
  test('has a README and the licence', async () => {
    const read = async (file: string): Promise<string> =>
      (await run('tar', ['-xzOf', packed.tarballs[name], `package/${file}`])).stdout;
    expect(await read('LICENSE')).toBe(await readFile(join(repository, 'LICENSE'), 'utf8'));
    const { name: packageName } = JSON.parse(await read('package.json')) as { name: string };
    expect(await read('README.md')).toMatch(new RegExp(`^# ${packageName}\n`));
  });

  test('has types that every kind of module resolution finds', async () => {
    const tarball = createPackageFromTarballData(await readFile(packed.tarballs[name]));
    const result = await checkPackage(tarball);
    expect(result.types).toMatchObject({ kind: 'included' });
    const problems = 'problems' in result ? result.problems : [];
    expect(problems.filter(({ kind }) => !accepted.has(kind))).toEqual([]);
  });

  test('is as bundlers and runtimes expect', async () => {
    const { buffer } = new Uint8Array(await readFile(packed.tarballs[name]));
    const { messages, pkg } = await publint({ pack: { tarball: buffer }, strict: true });
    expect(messages.map((message) => formatMessage(message, pkg))).toEqual([]);
  });
});
