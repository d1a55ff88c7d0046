import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { anchors } from '@millrace/contract/troubleshooting';
import { slugOf } from '../../docs/.vitepress/slug.ts';
import { pagesBelow } from '../../packages/millrace/src/help/pages.ts';
import { repository } from '../cli/command.ts';
import { bundled, packAll, packageName, programs, published, run, type Packed } from './packed.ts';

let packed: Packed;
beforeAll(async () => {
  packed = await packAll();
}, 120_000);
afterAll(() => packed?.remove());

/** `require` of an ES module works in every supported Node, 20.19 and later, and TypeScript 5.8 supports it. */
const accepted = new Set(['CJSResolvesToESM']);

/** Topics of `millrace help` in the sources. `…` and other insertions are sections, which another test compares with the page. */
async function namedTopics(): Promise<Set<string>> {
  const topics = new Set<string>();
  for (const name of [...published, ...bundled]) {
    const folder = join(repository, 'packages', name, 'src');
    for (const path of await readdir(folder, { recursive: true })) {
      if (!path.endsWith('.ts') || path.endsWith('.test.ts')) continue;
      const source = await readFile(join(folder, path), 'utf8');
      const text = source.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
      for (const [, topic = ''] of text.matchAll(/millrace help ([a-z][\w-]*)/g)) topics.add(topic);
      expect([path, text.match(/['"`(](?!docs\/troubleshooting\.md#)[^'"`\n]*docs\/[\w-]+\.md/)]).toEqual([
        path,
        null,
      ]);
    }
  }
  return topics;
}

test('the tarball of millrace contains the documentation, and each section and page that a message names', async () => {
  const files = (await run('tar', ['-tzf', packed.tarballs.millrace])).stdout.split('\n');
  const readFrom = async (path: string): Promise<string> =>
    (await run('tar', ['-xzOf', packed.tarballs.millrace, `package/${path}`])).stdout;
  const read = (name: string): Promise<string> => readFrom(`pages/${name}.md`);
  const pages = pagesBelow(join(repository, 'docs'));
  expect(files.filter((file) => file.startsWith('package/pages/')).toSorted()).toEqual(
    pages.map((page) => `package/pages/${page}.md`).toSorted(),
  );
  for (const page of ['troubleshooting', 'coming-from/bullmq'])
    expect(await read(page)).toBe(await readFile(join(repository, `docs/${page}.md`), 'utf8'));
  const listed = [...(await readFrom('llms.txt')).matchAll(/^- \[.+\]\((pages\/\S+)\): [A-Z0-9`].+\.$/gm)];
  expect(listed.map(([, path = '']) => path).toSorted()).toEqual(
    pages.map((page) => `pages/${page}.md`).toSorted(),
  );
  const page = await read('troubleshooting');
  const sections = [...page.matchAll(/^## (.*)$/gm)].map(([, heading = '']) => slugOf(heading));
  expect(sections.toSorted()).toEqual(anchors.toSorted());
  const topics = await namedTopics();
  expect(topics.size).toBeGreaterThan(5);
  expect([...topics].filter((topic) => ![...sections, ...pages].includes(topic))).toEqual([]);
});

describe.each(published)('the tarball of packages/%s', (name) => {
  test('has a README and the license', async () => {
    const read = async (file: string): Promise<string> =>
      (await run('tar', ['-xzOf', packed.tarballs[name], `package/${file}`])).stdout;
    expect(await read('LICENSE')).toBe(await readFile(join(repository, 'LICENSE'), 'utf8'));
    expect(await read('README.md')).toMatch(new RegExp(`^# ${packageName(name)}\n`));
  });

  test.skipIf(programs.includes(name))('has types that every kind of module resolution finds', async () => {
    const tarball = createPackageFromTarballData(await readFile(packed.tarballs[name]));
    const result = await checkPackage(tarball);
    expect(result.types).toMatchObject({ kind: 'included' });
    const problems = 'problems' in result ? result.problems : [];
    expect(problems.filter(({ kind }) => !accepted.has(kind))).toEqual([]);
  });

  test('has the format that bundlers and runtimes expect', async () => {
    const { buffer } = new Uint8Array(await readFile(packed.tarballs[name]));
    const { messages, pkg } = await publint({ pack: { tarball: buffer }, strict: true });
    expect(messages.map((message) => formatMessage(message, pkg))).toEqual([]);
  });
});
