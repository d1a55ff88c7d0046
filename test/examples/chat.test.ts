import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import { answerTo } from '../../examples/chat/answer.ts';
import { startRunner } from '../../packages/millrace/src/serve-folder/start.ts';
import { repository } from '../cli/command.ts';
import { startServerProcess } from '../support/server-process/start.ts';
import { newContext } from '../support/chromium.ts';
import { testDatabase } from '../support/database.ts';
import { promote } from '../support/promote.ts';

const example = join(repository, 'examples/chat');

async function servePage(url: string, secretKey: string): Promise<string> {
  const child = spawn(join(repository, 'node_modules/.bin/node'), [join(example, 'serve.ts')], {
    env: { ...process.env, MILLRACE_URL: url, MILLRACE_SECRET_KEY: secretKey, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  return line;
}

test('a chat in a browser survives a kill of the server without losing a character', async () => {
  const { connection, drop } = await testDatabase();
  onTestFinished(drop);
  let server = await startServerProcess({ database: connection });
  const runner = await startRunner({
    url: server.url,
    secretKey: server.secretKey,
    projectDir: example,
    watch: false,
  });
  onTestFinished(() => runner.stop({ waitMs: 0 }));
  await promote(server.url, server.secretKey, runner.version ?? undefined);
  const address = await servePage(server.url, server.secretKey);
  const page = await (await newContext()).newPage();
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(String(error)));
  await page.goto(`${address}#one`);
  await page.waitForSelector('form[data-ready]');

  const say = async (text: string): Promise<void> => {
    await page.fill('input[name=text]', text);
    await page.click('button');
  };
  const messages = () => page.locator('#talk p').allTextContents();
  const first = 'Grüße from 🙂 afar';
  const answer = answerTo(first).join('');

  await say(first);
  await expect
    .poll(async () => (await messages())[1]?.length ?? 0, { timeout: 30_000 })
    .toBeGreaterThan(answer.length / 4);
  server.process.kill('SIGKILL');
  await once(server.process, 'exit');
  expect((await messages())[1]?.length).toBeLessThan(answer.length);
  server = await startServerProcess({ database: connection, port: server.port });
  await page.waitForSelector('#talk p[data-complete]', { timeout: 60_000 });
  expect(await messages()).toEqual([first, answer]);

  await page.reload();
  await expect.poll(messages, { timeout: 30_000 }).toEqual([first, answer]);
  await say('Bye');
  await page.waitForSelector('#talk p[data-complete] ~ p[data-complete]', { timeout: 30_000 });
  expect(await messages()).toEqual([first, answer, 'Bye', answerTo('Bye').join('')]);
  expect(problems).toEqual([]);
}, 180_000);
