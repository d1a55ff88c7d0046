/** The commands of docs/export.md, in page order, between two servers. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { shell } from '../cli/command.ts';
import { finished } from '../cli/in-process.ts';
import { blocksOf } from '../cli/documented-page.ts';
import { testServer } from '../support/server.ts';
import { deployTasks, fill, rememberedOf } from './environment.ts';

test('the commands of the page move an environment', async () => {
  const [old, moved] = await Promise.all([testServer(), testServer()]);
  const cwd = await mkdtemp(join(tmpdir(), 'millrace-page-'));
  onTestFinished(() => rm(cwd, { recursive: true, force: true }));
  await fill(old);
  await deployTasks(moved);
  const values = {
    OLD_URL: old.url,
    OLD_KEY: old.keys.prod,
    NEW_URL: moved.url,
    NEW_KEY: moved.keys.prod,
  };
  const commands = (await blocksOf('export.md'))('sh')
    .flatMap((block) => block.replaceAll('|\n', '|').trim().split('\n'))
    .map((line) => line.replaceAll(/"\$(\w+)"/g, (_, name: keyof typeof values) => values[name]));
  expect(commands).toHaveLength(10);
  for (const command of commands) {
    if (command.startsWith('sed ')) {
      await shell(command.replace('npx ', ''), cwd);
      continue;
    }
    const [npx, millrace, ...args] = command.split(' ');
    expect([npx, millrace]).toEqual(['npx', 'millrace']);
    const { exitCode, stdout, stderr } = await finished(args, { cwd, env: { XDG_CONFIG_HOME: cwd } });
    // The chat endpoint and a task that is not deployed require manual steps.
    const isImport = command.includes('import') && !/--dry-run|--only/.test(command);
    expect(exitCode, `${command}\n${stdout}\n${stderr}`).toBe(isImport ? 1 : 0);
  }
  const [there, here] = [await rememberedOf(old), await rememberedOf(moved)];
  expect(there.runs).toEqual([]);
  expect(here.runs).toHaveLength(5);
  expect(here.concurrency).toEqual({ paused: false, concurrencyLimit: 20 });
  const history = (await readFile(join(cwd, 'history.ndjson'), 'utf8')).trim().split('\n');
  // The runs of the file, and one that was canceled before. Skipped runs continue in the source.
  expect(history).toHaveLength(1 + 6 + 1);
}, 120_000);
