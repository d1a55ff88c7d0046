import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { runStatuses, transitions } from '@millrace/contract';
import { machineMemory } from '@millrace/contract/runner';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { slugOf } from '../../docs/.vitepress/slug.ts';
import { exitCodes } from '../../packages/millrace/src/cli/exit-codes.ts';
import { firstProject } from '@millrace/template';
import { keys as configKeys } from '../../packages/millrace/src/project/config.ts';
import { retryDefaults } from '../../packages/sdk/src/retry/backoff.ts';
import { repository, shell, startDev, temporaryProject, type Folder, type Running } from '../cli/command.ts';

interface Page {
  readonly path: string;
  readonly text: string;
}

async function pages(): Promise<Page[]> {
  const found: Page[] = [];
  const folders = [
    '.',
    'docs',
    'docs/coming-from',
    'docs/decisions',
    'bench',
    'bench/results',
    'deploy',
    '.github',
  ];
  for (const parent of ['examples', 'packages'])
    for (const name of await readdir(join(repository, parent))) folders.push(join(parent, name));
  for (const folder of folders) {
    for (const name of await readdir(join(repository, folder))) {
      if (!name.endsWith('.md')) continue;
      const path = join(folder, name);
      found.push({ path, text: await readFile(join(repository, path), 'utf8') });
    }
  }
  return found;
}

const page = async (path: string): Promise<string> => readFile(join(repository, path), 'utf8');

/** First cells of the rows of a table, without their backticks. */
const rows = (markdown: string, pattern: RegExp): string[][] =>
  markdown
    .split('\n')
    .filter((line) => pattern.test(line))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );

/** Anchors of the headings of a page, as GitHub generates them. */
const anchors = (markdown: string): Set<string> =>
  new Set(
    [...markdown.replaceAll(/```[\s\S]*?```/g, '').matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
      slugOf(heading),
    ),
  );

/** The text of every source file, SQL file and page in which a word of the glossary may be used. */
async function texts(): Promise<string[]> {
  const found: string[] = [];
  for (const folder of ['packages', 'docs', 'docs/coming-from', 'docs/decisions']) {
    // Not all of docs: a build of the site creates and removes folders in it.
    const recursive = folder === 'packages';
    for (const entry of await readdir(join(repository, folder), { recursive, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      if (!entry.isFile() || !/(?<!\.test)\.(?:ts|sql|md)$/.test(path)) continue;
      if (/\/(?:dist|node_modules|corpus)\/|glossary\.md$/.test(path)) continue;
      found.push(await readFile(path, 'utf8'));
    }
  }
  return found;
}

describe('the documentation', () => {
  test('links to pages and headings that exist', async () => {
    const all = await pages();
    const broken: string[] = [];
    for (const { path, text: markdown } of all) {
      for (const [, link = '', anchor] of markdown.matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)/g)) {
        const target = link === '' ? path : join(dirname(path), link);
        const linked = all.find((other) => other.path === target);
        if (!existsSync(join(repository, target)) || (anchor && linked && !anchors(linked.text).has(anchor)))
          broken.push(`${path} → ${link}${anchor ? `#${anchor}` : ''}`);
      }
    }
    expect(broken).toEqual([]);
  });

  test('numbers the decisions without gaps', async () => {
    const numbers = (await readdir(join(repository, 'docs/decisions')))
      .toSorted()
      .map((name) => name.slice(0, 4));
    expect(numbers).toEqual(numbers.map((_, index) => String(index + 1).padStart(4, '0')));
  });

  test('explains in the glossary only words that are used', async () => {
    const words = rows(await page('docs/glossary.md'), /^\| (?!Term|-)/).flatMap(([cell = '']) =>
      cell.split(', '),
    );
    expect(words.length).toBeGreaterThan(50);
    expect(words).toEqual([...new Set(words)]);
    const everything = (await texts()).join('\n');
    // `idempotencyKey` and `idempotency_key` are uses of "idempotency key".
    const used = (word: string) =>
      new RegExp(`(?<![a-z])${word.split(' ').join('[\\s_-]?')}`, 'i').test(everything);
    expect(words.filter((word) => !used(word))).toEqual([]);
  });

  test('shows the state machine of the code', async () => {
    const drawn = rows(await page('docs/state-machine.md'), /^\| `[A-Z_]+` \|/).map(
      ([status = '', , goesTo = '']) => [
        status.replaceAll('`', ''),
        goesTo === 'final' ? [] : goesTo.replaceAll('`', '').split(', '),
      ],
    );
    expect(drawn).toEqual(runStatuses.map((status) => [status, transitions[status]]));
  });

  test('lists the exit codes of the command', async () => {
    const listed = rows(await page('docs/cli.md'), /^\| \d+ \|/).map(([code]) => Number(code));
    expect(listed).toEqual(Object.values(exitCodes));
  });

  test('lists the machines and retry defaults of the code', async () => {
    const machines = rows(await page('docs/machines.md'), /^\| `\w+(?:-\dx)?` \| [\d,]+ \|/).map(
      ([name = '', memory = '']) => [name.replaceAll('`', ''), Number(memory.replaceAll(',', ''))],
    );
    expect(machines).toEqual(Object.entries(machineMemory));
    const defaults = rows(await page('docs/retries.md'), /^\| `\w+` \|/).map(([name = '', , value = '']) => [
      name.replaceAll('`', ''),
      JSON.parse(value.replaceAll(/[`,]/g, '')) as unknown,
    ]);
    expect(Object.fromEntries(defaults)).toEqual(retryDefaults);
  });

  test('compares with the figures of the benchmarks', async () => {
    const [, compared = ''] = (await page('docs/comparison.md')).split('Measured in the same rounds');
    const [measured = ''] = compared.split('The peers without Millrace');
    const figures = [...measured.matchAll(/\| ([\d,]{5,}) \||, ([\d.,]+)(?: ms)? \|/g)].map(
      ([, ours, theirs]) => ours ?? theirs ?? '',
    );
    expect(figures.length).toBeGreaterThan(8);
    const benchmarks = await page('docs/benchmarks.md');
    expect(figures.filter((figure) => !benchmarks.includes(figure))).toEqual([]);
  });

  test('lists every millrace.config.ts setting', async () => {
    const named = rows(await page('docs/config.md'), /^\| `\w+` \|/).map(([name = '']) =>
      name.replaceAll('`', ''),
    );
    expect(named).toEqual([...configKeys]);
  });

  test('shows the first task as init writes it', async () => {
    const [, code] = /```ts\n\/\/ tasks\/hello\.ts\n([\s\S]*?)```/.exec(await page('README.md')) ?? [];
    expect(code).toBe(firstProject('hello', '0.0.0')['tasks/hello.ts']);
  });
});

describe('commands in the documentation', async () => {
  const blocks = (await pages()).flatMap(({ path, text: markdown }) =>
    [...markdown.matchAll(/```sh runnable\n([\s\S]*?)```/g)].map(([, script = '']) => ({ path, script })),
  );
  let project: Folder;
  let dev: Running;

  beforeAll(async () => {
    project = await temporaryProject(firstProject('first', '0.0.0'));
    dev = await startDev(project.path);
  }, 60_000);
  afterAll(async () => {
    dev?.kill('SIGTERM');
    await dev?.exitCode;
    await project?.remove();
  });

  test.each(blocks)('run in a first project next to millrace dev: $path', async ({ script }) => {
    expect(await shell(script, project.path)).toContain('Hello, Ada!');
  });

  test('exist', () => {
    expect(blocks.map(({ path }) => relative('.', path))).toContain('README.md');
  });
});
