/** docs/troubleshooting.md has the messages of the code, and the commands link to their sections. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { slugOf } from '../../docs/.vitepress/slug.ts';
import { anchorOf, anchorOfFailure, anchors } from '@millrace/contract/troubleshooting';
import { withExplanation } from '../../packages/millrace/src/cli/with-explanation.ts';
import { repository, temporaryProject } from '../cli/command.ts';
import { finished } from '../cli/in-process.ts';

interface Section {
  readonly anchor: string;
  readonly messages: readonly string[];
}

let sections: readonly Section[];
/** The text of all sources, with `…` for insertions into messages, and with joined strings as one. */
let sources: string;
beforeAll(async () => {
  const page = await readFile(join(repository, 'docs/troubleshooting.md'), 'utf8');
  sections = page
    .split(/^## /m)
    .slice(1)
    .map((section) => ({
      anchor: slugOf(section.slice(0, section.indexOf('\n'))),
      messages: (/```text\n([\s\S]*?)\n```/.exec(section)?.[1] ?? '').split('\n'),
    }));
  const texts: string[] = [];
  for (const name of await readdir(join(repository, 'packages'))) {
    const folder = join(repository, 'packages', name, 'src');
    for (const path of await readdir(folder, { recursive: true }))
      if (path.endsWith('.ts') && !/\.test\.ts$|^troubleshooting\//.test(path))
        texts.push(await readFile(join(folder, path), 'utf8'));
  }
  sources = normalized(texts.join('\n'));
});

function normalized(source: string): string {
  let text = source;
  // From the inside out: an expression may contain other templates.
  for (let before = ''; before !== text;) {
    before = text;
    text = text.replaceAll(/\$\{[^{}$]*\}/g, '…');
  }
  return text
    .replaceAll(/['"`] \+\s+['"`]/g, '')
    .replaceAll('\\`', '`')
    .replaceAll(/…+/g, '…');
}

/** The status with which the SDK and the commands show a reply. */
const status = /^[45]\d\d /;

/** Whether the sources contain it: whole, or in parts that are joined at an insertion, a colon or a bracket. */
function isProduced(documented: string): boolean {
  const message = documented.replace(status, '');
  return (
    sources.includes(message) ||
    (message.length > 20 && message.split(/…|[:;] | (?=\()/).every((part) => sources.includes(part.trim())))
  );
}

/** A reply that is shown without its status is matched by its text alone: 418 only means that a value is not accepted. */
const ledTo = (message: string): string | undefined => anchorOf(message) ?? anchorOf(`418 ${message}`);

test('every message of the page exists in the code', () => {
  expect(sections.length).toBeGreaterThan(60);
  const unknown = sections.flatMap(({ messages }) => messages).filter((message) => !isProduced(message));
  expect(unknown).toEqual([]);
});

test('every message links to its section, and every section has a message', () => {
  const wrong = sections.flatMap(({ anchor, messages }) =>
    messages
      .filter((message) => ledTo(message) !== anchor)
      .map((message) => `${message} → ${ledTo(message)}`),
  );
  expect(wrong).toEqual([]);
  expect(sections.map(({ anchor }) => anchor).toSorted()).toEqual(anchors.toSorted());
});

test('other messages, multi-line messages and messages that name a page are unchanged', () => {
  for (const message of [
    'Run not found',
    'Packages that cannot be bundled are installed by npm, which was not found.',
    'Error: Internal Server Error\n    at somewhere',
    'DATABASE_URL points to a pooler in transaction mode; see: millrace help poolers',
  ])
    expect(withExplanation(message)).toBe(message);
});

test('errors of Millrace link to a section, errors of task code do not', () => {
  const message = 'The process of the run exited with code 3';
  expect(anchorOfFailure({ name: 'ProcessExit', message })).toBe('the-process-of-a-run-ended');
  expect(anchorOfFailure({ name: 'Error', message: 'Cannot reach https://mail.example' })).toBeUndefined();
});

test('a failed command names the section', async () => {
  const project = await temporaryProject({});
  try {
    const { exitCode, stderr } = await finished(['runs', 'list'], { cwd: project.path });
    expect([exitCode, stderr.trim()]).toEqual([
      4,
      'millrace: No server is configured: start `millrace dev` in this folder, or set MILLRACE_API_URL and MILLRACE_SECRET_KEY. See: millrace help no-server-is-configured',
    ]);
  } finally {
    await project.remove();
  }
});

test('the command that a message names prints the section, and unknown topics are rejected', async () => {
  const help = (...args: string[]) => finished(['help', ...args], { cwd: repository });
  const section = await help('not-found');
  expect(section).toMatchObject({ exitCode: 0, stderr: '' });
  expect(section.stdout).toMatch(/^## Not found\n\n {4}404 Run not found\n/);
  expect(section.stdout).not.toMatch(/```|\]\(/);
  expect((await help('--list')).stdout.split('\n')).toEqual(expect.arrayContaining([...anchors]));
  expect(JSON.parse((await help('not-found', '--json')).stdout)).toMatchObject({ topic: 'not-found' });
  expect((await help('poolers')).stdout).toMatch(/^# Connection poolers\n/);
  expect((await help('runs', 'list')).stdout).toMatch(/^Usage: millrace runs list/);
  expect(JSON.parse((await help('runs', 'list', '--json')).stdout)).toMatchObject({ topic: 'runs list' });
  expect((await help('docs/troubleshooting.md#not-found')).stdout).toBe(section.stdout);
  expect((await help('retries', '--list')).stdout.split('\n')).toContain('retries#stop-retrying');
  expect((await help('stop-retrying')).stdout).toBe((await help('retries#stop-retrying')).stdout);
  expect(await help('try-it')).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('Did you mean agents#try-it, ') as string,
  });
  expect(await help('pooler')).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('Did you mean the-database-is-behind-a-pooler, poolers?') as string,
  });
});
