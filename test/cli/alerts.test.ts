import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { repository, startDev, temporaryProject, type Folder, type Ready, type Running } from './command.ts';
import { finished } from './in-process.ts';

const taskFile = `
import { task } from '@millrace/sdk';
export const answer = task({ id: 'answer', run: async () => 1 });
export const fails = task({ id: 'fails', retry: { maxAttempts: 1 }, run: async () => { throw new Error('the disk is full'); } });
`;

let project: Folder;
let dev: Running & { ready: Ready };
const received: string[] = [];
const chat = createServer((request, response) => {
  void text(request).then((body) => {
    received.push(body);
    response.end('ok');
  });
});

beforeAll(async () => {
  project = await temporaryProject({ 'tasks/answer.ts': taskFile });
  dev = await startDev(project.path);
  await new Promise<void>((resolve) => chat.listen(0, '127.0.0.1', resolve));
}, 60_000);
afterAll(async () => {
  chat.close();
  dev?.kill('SIGKILL');
  await dev?.exitCode;
  await project?.remove();
});

const cli = (...args: string[]) => finished(args, { cwd: project.path });

/** A command that reads its secret on stdin. */
async function cliWithSecret(secret: string, ...args: string[]) {
  const child = spawn(process.execPath, [join(repository, 'packages/millrace/bin/millrace.js'), ...args], {
    cwd: project.path,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.end(`${secret}\n`);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { exitCode: child.exitCode, stdout, stderr };
}

test('a chat is added and tested, and receives an alert about a new error', async () => {
  const url = `http://127.0.0.1:${(chat.address() as AddressInfo).port}/secret-path`;
  const added = await cliWithSecret(url, 'notifications', 'add', 'slack', '--json');
  expect(added.exitCode, added.stderr).toBe(0);
  const { id } = JSON.parse(added.stdout) as { id: string };
  expect(added.stdout).not.toContain('secret-path');
  expect(await cli('notifications', 'test', id)).toMatchObject({ exitCode: 0, stdout: 'Delivered.' });
  expect(received).toHaveLength(1);
  expect((await cli('notifications', 'list')).stdout).toMatch(new RegExp(`^${id} +slack +http://127`, 'm'));

  const alert = await cli(
    'alerts',
    'add',
    'error.new',
    '--task',
    'fails',
    '--quiet',
    '1m',
    '--name',
    'Errors',
  );
  expect(alert.stdout).toMatch(/^Added alert_\w+: error\.new of fails, ok\.$/);
  const alertId = /alert_\w+/.exec(alert.stdout)?.[0] ?? '';
  expect((await cli('trigger', 'fails', '--wait')).exitCode).toBe(1);
  await expect.poll(() => received.length, { timeout: 20_000 }).toBe(2);
  expect(received[1]).toContain('Errors: 1 new error group');
  expect((await cli('notifications', 'deliveries')).stdout).toMatch(/alert\.firing +endpoint_\w+ +DELIVERED/);
  expect((await cli('alerts', 'update', alertId, '--threshold', '2')).stdout).toContain('Updated');
  expect((await cli('alerts', 'show', alertId)).stdout).toContain(
    'threshold 2 (error groups), window 5m, quiet 1m',
  );
  expect((await cli('alerts', 'list')).stdout).toMatch(/error\.new +fails +2 +5m +1m +ok +Errors/);
  expect((await cli('alerts', 'disable', alertId)).stdout).toContain('disabled');
  expect((await cli('alerts', 'remove', alertId)).stdout).toBe(`Deleted ${alertId}.`);

  chat
    .removeAllListeners('request')
    .on('request', (_request, response) => void response.writeHead(404).end());
  const failed = await cli('notifications', 'test', id);
  expect(failed).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('Not delivered: The endpoint returned 404.'),
  });
  expect((await cli('notifications', 'remove', id)).stdout).toBe(`Deleted ${id}.`);
}, 180_000);

test('invalid command lines print the correct form', async () => {
  const cases: [args: string[], stderr: RegExp][] = [
    [['alerts', 'add', 'error'], /Allowed choices are error\.new/],
    [['alerts', 'add', 'error.new', '--threshold', '0'], /Must be a number above 0/],
    [
      ['notifications', 'add', 'email', '--smtp', 'smtps://u:p@h', '--from', 'a', '--to', 'b'],
      /without a password/,
    ],
    [
      ['notifications', 'add', 'email', '--smtp', 'ftp://h', '--from', 'a', '--to', 'b'],
      /Must be a mail server such as/,
    ],
    [['runs', 'list', '--metadata', '42'], /Must be a path and a value/],
  ];
  for (const [args, stderr] of cases)
    expect(await cli(...args)).toMatchObject({ exitCode: 2, stderr: expect.stringMatching(stderr) });
  expect(await cli('alerts', 'add', 'error.new', '--window', '1s')).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('window: must be from 1m to 1d'),
  });
});

test('runs are found by a declared path', async () => {
  expect((await cli('runs', 'list', '--payload', 'order=7')).stderr).toContain(
    'millrace runs paths add payload.order',
  );
  expect((await cli('runs', 'paths', 'add', 'payload.order')).stdout).toContain(
    'New runs are indexed by payload.order',
  );
  const run = await cli('trigger', 'answer', '--payload', '{"order":7}', '--wait', '--json');
  const { id } = JSON.parse(run.stdout.split('\n')[0] ?? '') as { id: string };
  expect((await cli('runs', 'list', '--payload', 'order=7')).stdout).toContain(id);
  expect((await cli('runs', 'list', '--payload', 'order=8')).stdout).toBe('No runs.');
  expect((await cli('runs', 'list', '--error', 'disk is')).stdout).toContain('fails');
  expect((await cli('runs', 'paths', 'list')).stdout).toMatch(/^payload\.order +BACKFILLING +\d+ %/m);
  expect((await cli('runs', 'paths', 'remove', 'payload.order')).stdout).toContain('no longer indexed');
}, 180_000);
