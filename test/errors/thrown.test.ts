import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startDev, temporaryProject, type Folder, type Ready, type Running } from '../cli/command.ts';
import { finished } from '../cli/in-process.ts';

const odd = {
  'ten megabytes': `(() => { const error = new Error('x'.repeat(10_000_000)); error.stack = 'y'.repeat(10_000_000); return error; })()`,
  'NUL and half a character': `new Error('a\\u0000b\\ud800c')`,
  'a name that is not a string': `Object.assign(new Error('named'), { name: { toString: null } })`,
  'names of Object.prototype': `Object.assign(new Error('constructor'), { name: '__proto__', code: 'hasOwnProperty' })`,
  'getters that throw': `Object.defineProperties(new Error('hidden'), Object.fromEntries(
    ['name', 'message', 'stack', 'code', 'cause', 'errors', 'fingerprint'].map((key) => [key, { get() { throw new Error('no'); } }])))`,
  'a proxy that throws': `new Proxy({}, { get() { throw 1; }, ownKeys() { throw 2; }, getPrototypeOf() { throw 3; } })`,
  'a cause of itself': `(() => { const error = new Error('round'); error.cause = error; return error; })()`,
  nothing: 'undefined',
  'a symbol': `Symbol('s')`,
};

const taskFile = `
import { task } from '@millrace/sdk';
const odd = [${Object.values(odd)
  .map((code) => `() => ${code}`)
  .join(',\n')}];
const once = { retry: { maxAttempts: 1 } };
export const odds = task({ id: 'odds', ...once, run: async ({ n }) => { throw odd[n](); } });
export const own = task({
  id: 'own', ...once, fingerprint: 'of the task',
  run: async ({ own }) => { throw Object.assign(new Error('failed ' + Math.random()), own && { fingerprint: own }); },
});
export const plain = task({ id: 'plain', ...once, run: async ({ message }) => { throw new Error(message); } });
`;

interface Group {
  readonly id: string;
  readonly fingerprint: string;
  readonly taskIdentifier: string;
  readonly errorMessage: string;
  readonly count: number;
  readonly status: string;
}

describe('errors of failed runs', () => {
  let project: Folder;
  let dev: Running & { ready: Ready };

  beforeAll(async () => {
    project = await temporaryProject({ 'tasks/failing.ts': taskFile });
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
    return stdout === '' ? [] : stdout.split('\n').map((line) => JSON.parse(line) as Group);
  };
  const post = async (task: string, payload: unknown): Promise<string> => {
    const response = await fetch(`${dev.ready.url}/api/v1/tasks/${task}/trigger`, {
      method: 'POST',
      headers: { authorization: `Bearer ${dev.ready.environments.dev.secretKey}` },
      body: JSON.stringify({ payload }),
    });
    return ((await response.json()) as { id: string }).id;
  };
  const countOf = async (task: string): Promise<number> =>
    (await json('errors', 'list', '--task', task)).reduce((sum, group) => sum + group.count, 0);

  test('end their run and form a group for every thrown value', async () => {
    const ids = await Promise.all(Object.keys(odd).map((_, n) => post('odds', { n })));
    await expect.poll(() => countOf('odds'), { timeout: 30_000, interval: 200 }).toBe(ids.length);
    for (const group of await json('errors', 'list', '--task', 'odds')) {
      expect(group.errorMessage).not.toBe('');
      expect((await cli('errors', 'show', group.id)).exitCode).toBe(0);
    }
    const runs = await json('runs', 'list', '--task', 'odds', '--status', 'FAILED');
    expect(runs.map((run) => run.id).toSorted()).toEqual(ids.toSorted());
  }, 60_000);

  test('are grouped by the code of the task', async () => {
    await Promise.all([post('own', {}), post('own', {}), post('own', { own: 'mine' })]);
    await expect.poll(() => countOf('own'), { timeout: 30_000, interval: 200 }).toBe(3);
    const groups = await json('errors', 'list', '--task', 'own', '--sort', 'count');
    expect(groups.map((group) => [group.fingerprint, group.count])).toEqual([
      ['of the task', 2],
      ['mine', 1],
    ]);
  }, 60_000);

  test('are merged, split, matched by rules, ignored and resolved by the command', async () => {
    await Promise.all(['alpha broke', 'beta broke'].map((message) => post('plain', { message })));
    await expect.poll(() => countOf('plain'), { timeout: 30_000, interval: 200 }).toBe(2);
    const [first, second] = await json('errors', 'list', '--task', 'plain', '--sort', 'firstSeen');
    expect(await json('errors', 'merge', first!.id, second!.id)).toMatchObject([{ id: first!.id, count: 2 }]);
    expect((await cli('errors', 'show', second!.id)).stdout).toContain(second!.fingerprint);
    expect(await json('errors', 'split', first!.id, second!.fingerprint)).toMatchObject([
      { id: second!.id, count: 1 },
    ]);
    expect(await json('errors', 'ignore', first!.id, '--for', '7d', '--rate', '0.5')).toMatchObject([
      { status: 'ignored', ignoredUntilOccurrenceRate: 0.5 },
    ]);
    expect(await json('errors', 'unresolve', first!.id)).toMatchObject([{ status: 'unresolved' }]);
    expect(await json('errors', 'resolve', first!.id)).toMatchObject([{ status: 'resolved' }]);

    expect((await cli('errors', 'rules', 'try', '--message', '* broke', '--group', 'broken')).stdout).toMatch(
      /^2 of the \d+ latest failures match\.$/m,
    );
    const [rule] = await json('errors', 'rules', 'add', '--message', '* broke', '--group', 'broken');
    expect((await cli('errors', 'rules', 'list')).stdout).toContain(rule!.id);
    const broken = async (): Promise<number> => {
      await post('plain', { message: 'gamma broke' });
      const groups = await json('errors', 'list', '--task', 'plain');
      return groups.find((group) => group.fingerprint === 'broken')?.count ?? 0;
    };
    await expect.poll(broken, { timeout: 30_000, interval: 500 }).toBeGreaterThan(0);
    expect((await cli('errors', 'rules', 'remove', rule!.id)).exitCode).toBe(0);
    expect((await cli('errors', 'ignore', first!.id, '--for', 'soon')).exitCode).toBe(2);
    expect((await cli('errors', 'merge', first!.id, 'nonsense')).exitCode).toBe(1);
  }, 90_000);
});
