import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { build } from '../../packages/millrace/src/bundle/build.ts';
import { loadProject } from '../../packages/millrace/src/project/load.ts';
import { describeProblem } from '../../packages/diagnostics/src/problem.ts';
import { millrace } from '../cli/command.ts';
import { finished } from '../cli/in-process.ts';
import { publishedProject } from './project.ts';

const files = {
  'trigger.config.ts': `
import { defineConfig } from '@trigger.dev/sdk';
export default defineConfig({ project: 'p', maxDuration: 60, runtime: 'bun', telemetry: {}, build: { extensions: [{ name: 'ffmpeg' }] } });
`,
  'trigger/a.ts': `
import { task, usage as used, type TaskOptions } from '@trigger.dev/sdk';
import { query } from '../lib/query';

export const a = task({ id: 'a', run: async () => [used.getCurrent(), query] });
export type Options = TaskOptions<'a'>;
`,
  'lib/query.ts': `export { query } from '@trigger.dev/sdk';\nimport { prompts } from '@trigger.dev/sdk';\nexport const promote = () => prompts.promote('greeting', 2);\n`,
};

test(
  'doctor lists supported, different and unsupported features, with their location',
  { timeout: 60_000 },
  async () => {
    const { dir } = await publishedProject('4.8', files, onTestFinished);
    const json = await finished(['doctor', '--from-trigger', '--json'], { cwd: dir });
    expect(json.exitCode).toBe(1);
    expect(JSON.parse(json.stdout)).toMatchObject({
      version: expect.stringMatching(/^4\.8\./) as string,
      works: ['task'],
      findings: [
        { file: 'lib/query.ts', line: 1, column: 10, name: 'query', state: 'not' },
        { file: 'lib/query.ts', line: 2, name: 'prompts', state: 'differs' },
        { file: 'lib/query.ts', line: 3, name: 'prompts.promote', state: 'not' },
        { file: 'trigger/a.ts', line: 2, name: 'usage', state: 'differs' },
      ],
      config: [
        { file: 'trigger.config.ts', note: expect.stringMatching(/^runtime: "bun" is not used/) as string },
        { file: 'trigger.config.ts', note: expect.stringMatching(/^telemetry: /) as string },
        {
          file: 'trigger.config.ts',
          note: expect.stringMatching(/^the extension ffmpeg does nothing here/) as string,
        },
      ],
    });
    const { stdout } = await finished(['doctor', '--from-trigger'], { cwd: dir });
    expect(stdout).toMatch(/^tasks of @trigger\.dev\/sdk 4\.8\.\d+ run here, trigger\.config\.ts$/m);
    expect(stdout).toMatch(
      /^not +lib\/query\.ts:3:30: prompts\.promote: change the prompt in the code, and deploy it$/m,
    );
  },
);

test(
  'dev, deploy and doctor reject unsupported uses by name, with file and line',
  { timeout: 120_000 },
  async () => {
    const { dir } = await publishedProject(
      '4.8',
      {
        'trigger/a.ts': `
import { auth, task } from '@trigger.dev/sdk';
import { count } from '../lib/count';
export const a = task({ id: 'a', run: async () => {
  await auth.getOIDCToken({ audience: 'x' });
  await a.trigger(undefined, { concurrency: 'paid' });
  return count();
} });
`,
        'lib/count.ts': `import { query } from '@trigger.dev/sdk';\nexport const count = () => query.execute('select 1');\n`,
      },
      onTestFinished,
    );
    const refused = [
      /^lib\/count\.ts:1:10: query: not supported by Millrace: use `millrace stats` and the lists of runs$/,
      /^trigger\/a\.ts:5:9: auth\.getOIDCToken: not supported by Millrace: Millrace does not issue OIDC tokens/,
      /^trigger\/a\.ts:6:32: option concurrency of trigger: not supported by Millrace: a run has the limits of its queue/,
    ];
    const deploy = await finished(['deploy', '--dry-run'], { cwd: dir });
    expect(deploy.exitCode).toBe(3);
    const lines = deploy.stderr.split('\n').map((line) => line.trim());
    for (const sentence of refused) expect(lines).toContainEqual(expect.stringMatching(sentence));
    const built = await build(await loadProject(dir), join(dir, '.millrace/builds'));
    expect(built.problems.map(describeProblem).toSorted()).toEqual(
      refused.map((sentence) => expect.stringMatching(sentence)),
    );
    const doctor = await finished(['doctor', '--from-trigger', '--json'], { cwd: dir });
    expect(doctor.exitCode).toBe(1);
    const { findings, problems } = JSON.parse(doctor.stdout) as {
      findings: { state: string; name: string }[];
      problems: [];
    };
    expect(findings.filter(({ state }) => state === 'not').map(({ name }) => name)).toEqual([
      'query',
      'auth.getOIDCToken',
      'option concurrency of trigger',
    ]);
    expect(problems).toEqual([]);
  },
);

test('doctor reports that there is nothing to migrate', { timeout: 60_000 }, async () => {
  const { dir, write } = await publishedProject('4.8', {}, onTestFinished);
  await write('package.json', '{}');
  const { exitCode, stderr } = await finished(['doctor', '--from-trigger'], { cwd: dir });
  expect(exitCode).toBe(1);
  expect(stderr).toContain('nothing to migrate');
});

const own = (extension: string): Readonly<Record<string, string>> => ({
  'trigger.config.ts': `
import { defineConfig } from '@trigger.dev/sdk';
export default defineConfig({ project: 'p', maxDuration: 60, build: { extensions: [${extension}] } });
`,
  'trigger/a.ts': `
import { task } from '@trigger.dev/sdk';
export const a = task({ id: 'a', run: async () => 1 });
`,
});

test(
  'doctor, dev and deploy agree about an extension that acts only in deployments',
  { timeout: 120_000 },
  async () => {
    const mine = own(`{
  name: 'mine',
  onBuildComplete(context) {
    if (context.target === 'dev') return;
    context.addLayer({ id: 'mine', image: { pkgs: ['graphviz'] } });
  },
}, { name: 'SyncEnvVarsExtension', onBuildComplete() { throw new Error('no credentials here'); } }`);
    const { dir } = await publishedProject('4.8', mine, onTestFinished);
    const sentence =
      'trigger.config.ts: the extension mine requires system packages, which deployments here do not support: remove it';
    const doctor = await finished(['doctor', '--from-trigger'], { cwd: dir });
    expect(doctor.exitCode).toBe(1);
    expect(doctor.stdout).toContain(`problem  ${sentence}`);
    const deploy = await finished(['deploy', '--dry-run'], { cwd: dir });
    expect(deploy.exitCode).toBe(3);
    expect(deploy.stderr).toContain(sentence);
    const dev = millrace(['dev', '--port', '0'], { cwd: dir });
    try {
      expect((await dev.line(/^\S+ deploy /)).slice('12:00:00 '.length)).toBe(
        `deploy  \`millrace deploy\` rejects this project: ${sentence}`,
      );
    } finally {
      dev.kill('SIGTERM');
      await dev.exitCode;
    }
  },
);

test.each([
  [
    'a rejected extension',
    own("{ name: 'PythonExtension' }"),
    /^trigger\.config\.ts:3:71: the extension PythonExtension/,
  ],
  ['a setting', { ...own(''), 'trigger.config.ts': 'export default { maxDuration: 1 };' }, /"maxDuration"/],
  [
    'a package that cannot be bundled and is not in the lockfile',
    {
      ...own(''),
      'trigger/b.ts': "import native from 'native';\nconsole.log(native);\n",
      'pnpm-lock.yaml': "lockfileVersion: '9.0'\n",
      'node_modules/native/package.json': '{"name":"native","version":"1.0.0","gypfile":true}',
      'node_modules/native/index.js': '',
    },
    /^package\.json: native is in node_modules, but not in .*pnpm-lock\.yaml: run `pnpm install`/,
  ],
  [
    'two tasks with one id',
    { ...own(''), 'trigger/b.ts': own('')['trigger/a.ts'] ?? '' },
    /^trigger\/a\.ts: the task id "a" is declared 2 times/,
  ],
])(
  'doctor exits with 1 for %s, as documented in moving.md',
  { timeout: 60_000 },
  async (_, refused, sentence) => {
    const { dir } = await publishedProject('4.8', refused, onTestFinished);
    const json = await finished(['doctor', '--from-trigger', '--json'], { cwd: dir });
    expect([json.exitCode, json.stderr]).toEqual([1, '']);
    const { problems } = JSON.parse(json.stdout) as { problems: Parameters<typeof describeProblem>[0][] };
    expect(problems.map(describeProblem)).toEqual([expect.stringMatching(sentence)]);
  },
);
