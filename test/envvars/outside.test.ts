/** Variables that `millrace work` gets from elsewhere: a folder, a command, a hook. */
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startVariableServer } from '../../packages/server/src/envvars/testing/variable-server.ts';
import { millrace, temporaryProject } from '../cli/command.ts';
import { finished } from '../cli/in-process.ts';
import { eventually } from '../support/eventually.ts';
import { promote } from '../support/promote.ts';

const tasks = `
import { logger, task } from '@millrace/sdk';
const names = ['FROM_FILE', 'FROM_COMMAND', 'FROM_HOOK', 'SHARED', 'SET', 'MULTI', 'EMPTY', 'BLANKED'];
export const lengths = task({ id: 'lengths', run: async () =>
  Object.fromEntries(names.map((name) => [name, [process.env[name]?.slice(0, 2), process.env[name]?.length]])) });
export const leaks = task({ id: 'leaks', retry: { maxAttempts: 1 }, run: async (payload: { throws?: boolean }) => {
  console.log('line ' + process.env.FROM_FILE);
  logger.info('logged', { key: process.env.FROM_COMMAND });
  if (payload.throws) throw new Error('no access with ' + process.env.FROM_HOOK);
  return { file: process.env.FROM_FILE, base64: Buffer.from(process.env.FROM_HOOK ?? '').toString('base64'), set: process.env.SET };
} });
`;
const values = { file: 'file-secret-7f3a', command: 'command-secret-91c2', hook: 'hook-secret-55de' };

async function started() {
  const served = await startVariableServer();
  const project = await temporaryProject({
    'tasks/all.ts': tasks,
    'mounted/FROM_FILE': `${values.file}\n`,
    'mounted/SHARED': 'of the folder',
    'mounted/MULTI': 'one\ntwo\n',
    'mounted/EMPTY': '',
    'mounted/BLANKED': 'of the folder',
    'mounted/.hidden': 'x',
    'mounted/..data/KEY': 'x',
    'print.sh': `echo '{"FROM_COMMAND":"${values.command}","SHARED":"of the command","SET":"outside"}'`,
    'hook.mjs': `export default async () => ({ FROM_HOOK: '${values.hook}', SHARED: 'of the hook' });`,
  });
  onTestFinished(() => project.remove());
  await served.call('POST', 'envvars/prod', { body: { name: 'SET', value: 'inside' } });
  await served.call('POST', 'envvars/prod', { body: { name: 'BLANKED', value: '' } });
  const key = served.key('prod');
  const args = ['work', '--url', served.server.url, '--variables-refresh', '1s'];
  const work = millrace(
    [
      ...args,
      '--variables-dir',
      'mounted',
      '--variables-command',
      'sh print.sh',
      '--variables-hook',
      'hook.mjs',
      '--json',
    ],
    { cwd: project.path, env: { MILLRACE_SECRET_KEY: key } },
  );
  onTestFinished(async () => {
    work.kill('SIGKILL');
    await work.exitCode;
  });
  const { version } = JSON.parse(await work.line(/^\{"runner"/)) as { version: string };
  await promote(served.server.url, key, version);
  /** A run of the task, after it has ended. */
  const outcome = async (task: string, payload: unknown = {}): Promise<Record<string, unknown>> => {
    const { body } = await served.call('POST', `/api/v1/tasks/${task}/trigger`, { body: { payload } });
    return eventually(
      async () =>
        (await served.call('GET', `/api/v3/runs/${(body as { id: string }).id}`)).body as Record<
          string,
          unknown
        >,
      ({ finishedAt }) => finishedAt !== undefined,
      60_000,
    );
  };
  return { served, project, work, outcome };
}

test(
  'tasks see them, with variables of the environment taking precedence, and the last source wins',
  { timeout: 60_000 },
  async () => {
    const { outcome } = await started();
    expect(await outcome('lengths')).toMatchObject({
      status: 'COMPLETED',
      output: {
        FROM_FILE: ['fi', values.file.length],
        FROM_COMMAND: ['co', values.command.length],
        FROM_HOOK: ['ho', values.hook.length],
        SHARED: ['of', 'of the hook'.length],
        SET: ['in', 'inside'.length],
        MULTI: ['on', 'one\ntwo'.length],
        EMPTY: ['', 0],
        BLANKED: ['', 0],
      },
    });
  },
);

test(
  'their values are neither stored by the server nor printed by the runner',
  { timeout: 60_000 },
  async () => {
    const { served, work, outcome } = await started();
    expect(await outcome('leaks')).toMatchObject({
      status: 'COMPLETED',
      output: { file: '<redacted>', base64: expect.stringMatching(/^<redacted>/) as string, set: 'inside' },
    });
    expect(await outcome('leaks', { throws: true })).toMatchObject({
      status: 'FAILED',
      error: { message: 'no access with <redacted>' },
    });
    const stored = await served.sql<{ text: string }[]>`
    select message || coalesce(properties::text, '') as text from run_logs`;
    expect(stored.map(({ text }) => text).join('\n')).toContain('line <redacted>');
    const all = [...stored.map(({ text }) => text), ...work.stdout, ...work.stderr, ...served.logged].join(
      '\n',
    );
    for (const value of Object.values(values)) expect(all).not.toContain(value);
  },
);

test(
  'a change takes effect, and the previous values remain in use when a source cannot be read',
  { timeout: 60_000 },
  async () => {
    const { project, work, outcome } = await started();
    expect(await outcome('lengths')).toMatchObject({ output: { SHARED: ['of', 11] } });
    await writeFile(join(project.path, 'mounted/FROM_FILE'), 'new');
    await expect
      .poll(() => outcome('lengths'), { timeout: 20_000 })
      .toMatchObject({ output: { FROM_FILE: ['ne', 3] } });
    await rm(join(project.path, 'mounted'), { recursive: true });
    expect(await work.line(/variables\.unread/)).toMatch(/ENOENT.*The previous variables remain in use/);
    expect(await outcome('lengths')).toMatchObject({ status: 'COMPLETED', output: { FROM_FILE: ['ne', 3] } });
  },
);

test(
  'a source that cannot be read stops the start, with a message that contains no value',
  { timeout: 60_000 },
  async () => {
    const project = await temporaryProject({
      'tasks/all.ts': tasks,
      'bad/MILLRACE_API_URL': 'secret',
      'name/a-b': 'secret',
      'list.mjs': 'export default () => ["secret"];',
      'nothing.mjs': 'export const other = 1;',
      'throws.mjs': 'export default () => { throw new Error("vault is sealed"); };',
    });
    onTestFinished(() => project.remove());
    for (const [args, sentence] of [
      [['--variables-dir', 'none'], /The variables in the folder none cannot be read: ENOENT/],
      [
        ['--variables-dir', 'bad'],
        /"MILLRACE_API_URL"\. This name is reserved by Millrace: choose another\./,
      ],
      [['--variables-dir', 'name'], /"a-b"\. A name is letters, digits and _/],
      [
        ['--variables-command', 'echo secret; echo sealed >&2; exit 3'],
        /The command of --variables-command ended with 3: sealed/,
      ],
      [['--variables-command', `echo '{"a": "secret"'`], /printed JSON that cannot be parsed/],
      [['--variables-command', `echo '{"a": {"b": "secret"}}'`], /returned an invalid value for a\./],
      [['--variables-hook', 'list.mjs'], /The hook list\.mjs must return an object of variables/],
      [['--variables-hook', 'nothing.mjs'], /must export a function as its default/],
      [['--variables-hook', 'throws.mjs'], /The hook throws\.mjs failed: vault is sealed/],
      [['--variables-hook', 'none.mjs'], /The hook none\.mjs failed: Cannot find module/],
    ] as const) {
      const result = await finished(['work', '--url', 'http://127.0.0.1:9', ...args], {
        cwd: project.path,
        env: { MILLRACE_SECRET_KEY: `svc_prod_sk_${'7'.repeat(24)}` },
      });
      expect([args, result]).toMatchObject([
        args,
        { exitCode: 3, stderr: expect.stringMatching(sentence) as string },
      ]);
      expect(result.stderr).not.toContain('secret');
    }
    const never = await finished(['work', '--variables-refresh', '0s'], { cwd: project.path });
    expect(never).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('from 1s to 24h') as string });
  },
);
