import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startDev, temporaryProject, type Folder, type Ready, type Running } from './command.ts';
import { finished } from './in-process.ts';

const taskFile = `
import { metadata, tags, task } from '@millrace/sdk';
export const answer = task({
  id: 'answer',
  run: async (payload) => {
    console.log('given', payload);
    await tags.add('answered');
    await metadata.set('payload', payload ?? null);
    return payload;
  },
});
`;

describe('run and queue commands', () => {
  let project: Folder;
  let dev: Running & { ready: Ready };

  beforeAll(async () => {
    project = await temporaryProject({ 'tasks/answer.ts': taskFile });
    dev = await startDev(project.path);
  }, 60_000);
  afterAll(async () => {
    dev?.kill('SIGKILL');
    await dev?.exitCode;
    await project?.remove();
  });

  const cli = (...args: string[]) => finished(args, { cwd: project.path });
  const json = async (...args: string[]) => {
    const { stdout } = await cli(...args, '--json');
    return stdout.split('\n').map((line) => JSON.parse(line) as Record<string, unknown>);
  };

  test('show why a run waits, release it, find it, replay and cancel it', async () => {
    expect((await cli('queues', 'pause', 'task/answer')).stdout).toMatch(/task\/answer is paused/);
    const [handle] = await json('trigger', 'answer', '--payload', '5');
    const id = String(handle?.['id']);
    expect((await cli('why', id)).stdout).toBe(
      'QUEUED  The queue "task/answer" is paused: resume it. See: millrace help runs-are-paused',
    );
    expect((await cli('queues', 'list')).stdout).toMatch(/^task\/answer +0 +1 +none +none +paused$/m);
    expect(await json('queues', 'resume', 'task/answer')).toMatchObject([{ paused: false }]);
    const done = await json('trigger', 'answer', '--payload', '6', '--wait');
    expect(done.slice(-1)).toMatchObject([
      { status: 'COMPLETED', output: 6, tags: ['answered'], metadata: { payload: 6 } },
    ]);

    const watched = await cli('runs', 'watch', String(done.at(-1)?.['id']));
    expect([watched.exitCode, watched.stdout]).toEqual([
      0,
      expect.stringMatching(/log +given 6[^]*COMPLETED/),
    ]);
    expect(await json('logs', id, '--follow')).toMatchObject([{ message: 'given 5', runId: id }]);
    expect(await json('logs', '--task', 'answer', '--text', 'GIVEN 6', '--since', '1h')).toMatchObject([
      { message: 'given 6', taskIdentifier: 'answer' },
    ]);
    expect((await cli('logs', id, '--task', 'answer')).exitCode).toBe(2);

    const [again] = await json('runs', 'replay', id, '--payload', '7');
    const [delayed] = await json('trigger', 'answer', '--delay', '1h');
    expect((await cli('runs', 'cancel', String(delayed?.['id']))).exitCode).toBe(0);
    const listed = await json('runs', 'list', '--task', 'answer');
    expect(listed.map((run) => run['id'])).toEqual([delayed?.['id'], again?.['id'], done.at(-1)?.['id'], id]);
    expect((await cli('runs', 'list', 'status:canceled task:answer since:1h')).stdout).toContain(
      String(delayed?.['id']),
    );
    const wrong = await cli('runs', 'list', 'status:broken');
    expect([wrong.exitCode, wrong.stderr]).toEqual([2, expect.stringContaining('"broken" is not a status')]);
    expect((await cli('runs', 'list', '--status', 'CANCELED')).stdout).toContain(String(delayed?.['id']));

    const many = await Promise.all(
      [1, 2, 3].map(() => json('trigger', 'answer', '--delay', '2h', '--tag', 'many')),
    );
    const [bulk] = await json('runs', 'cancel', '--tag', 'many', '--name', 'wrong');
    expect(bulk).toMatchObject({
      type: 'CANCEL',
      status: 'COMPLETED',
      name: 'wrong',
      counts: { success: 3 },
    });
    expect((await cli('runs', 'bulk', 'show', String(bulk?.['id']))).stdout).toBe('COMPLETED  3 of 3 done');
    expect((await cli('runs', 'bulk', 'list')).stdout).toContain('3 of 3 done');
    const both = many.slice(0, 2).map(([run]) => String(run?.['id']));
    expect((await cli('runs', 'replay', ...both)).stdout).toContain('2 of 2 done');
    expect((await cli('runs', 'bulk', 'abort', String(bulk?.['id']))).exitCode).toBe(1);
    expect((await cli('runs', 'cancel')).exitCode).toBe(2);
    expect((await cli('runs', 'cancel', 'run_1', '--tag', 'many')).exitCode).toBe(2);

    expect(await json('queues', 'limit', 'task/answer', '--to', '3')).toMatchObject([
      { concurrencyLimit: 3 },
    ]);
    expect(await json('queues', 'limit', 'task/answer', '--to', 'none')).toMatchObject([
      { concurrencyLimit: null },
    ]);
    expect(await json('queues', 'limit', '--environment', '--to', '9')).toMatchObject([
      { concurrencyLimit: 9 },
    ]);
    expect(await json('queues', 'limit', '--environment', '--to', 'none')).toMatchObject([
      { concurrencyLimit: null },
    ]);
  }, 60_000);

  test('show time series, and reject a step that is too fine with one that fits', async () => {
    await cli('trigger', 'answer', '--payload', '1', '--wait');
    const read = async () => (await json('stats', '--task', 'answer', '--period', '1h'))[0];
    await expect.poll(read, { timeout: 20_000, interval: 500 }).toMatchObject({
      stepMs: 60_000,
      series: [{ name: 'answer', total: { failed: 0, duration: { p95: expect.any(Number) } } }],
    });
    const { stdout } = await cli('stats', '--period', '1h');
    expect(stdout).toMatch(/^triggered +[·▁▂▃▄▅▆▇█]+ +\d+$/m);
    expect(stdout).toMatch(/^duration p95 .*\dm?s$/m);
    const refused = await cli('stats', '--period', '2d', '--step', '1m');
    expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringMatching(/Use step=5m/)]);
    const both = await cli('stats', '--task', 'a', '--run-version', '1');
    expect([both.exitCode, both.stderr]).toEqual([2, expect.stringContaining('cannot be used with')]);
  });

  test('require exactly one queue', async () => {
    for (const args of [
      ['queues', 'pause'],
      ['queues', 'pause', 'a', '--environment'],
      ['queues', 'limit', 'a', '--to', 'x'],
    ]) {
      expect((await cli(...args)).exitCode).toBe(2);
    }
    expect(await cli('why', 'run_unknown')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/^millrace: 404 [^;]*; see: millrace help not-found\n?$/),
    });
  });
});
