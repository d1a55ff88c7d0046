import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { loadProject } from '../../packages/millrace/src/project/load.ts';
import { buildDeployment } from '../../packages/millrace/src/bundle/build-deployment.ts';
import { callServer } from '../../packages/millrace/src/deploy/client.ts';
import { prepare } from '../../packages/millrace/src/deploy/prepare.ts';
import { setVariables } from '../../packages/millrace/src/deploy/set-variables.ts';
import { sharedServer } from '../support/shared-server.ts';
import { publishedProject } from './project.ts';
import { serve } from './serve.ts';
import { ways } from './versions.ts';

const sdk = fileURLToPath(new URL('../../packages/sdk', import.meta.url));
const hello = `
import { task } from '@trigger.dev/sdk';
export const hello = task({ id: 'hello', run: async () => 'hello' });
`;

const loading = async (files: Readonly<Record<string, string>>) => {
  const { dir } = await publishedProject('4.8', files, onTestFinished);
  return loadProject(dir);
};

test.each([
  ['{ dirs: ["./trigger"], maxDuration: 1 }', /^trigger\.config\.ts:1:39: "maxDuration": /],
  [
    '{ build: { extensions: [{ name: "PythonExtension" }] } }',
    /^trigger\.config\.ts:1:27: the extension PythonExtension does not work here: Python is not part of a deployment here/,
  ],
  [
    '{ build: { extensions: [{ name: "lightpanda" }] } }',
    /the extension lightpanda does not work here: browsers/,
  ],
  ['{ build: { extensions: [{}] } }', /"build\.extensions" has something that is not an extension/],
])('the configuration %s is rejected by name', async (config, message) => {
  await expect(
    loading({ 'trigger.config.ts': `export default ${config};`, 'trigger/a.ts': hello }),
  ).rejects.toThrow(message);
});

const builtWith = (config: string): Readonly<Record<string, string>> => ({
  'trigger.config.ts': `export default ${config};`,
  'tsconfig.tasks.json': JSON.stringify({ compilerOptions: { paths: { '@lib/*': ['./lib/*'] } } }),
  'lib/text.ts': `export const text = 'aliased';`,
  'jobs/page.tsx': `
import { task } from '@trigger.dev/sdk';
import { text } from '@lib/text';
import { value } from 'conditional';
import { other } from 'outside';
const h = (...parts: unknown[]) => parts;
const F = 'fragment';
export const page = task({ id: 'page', run: async () => [text, value, other, <b>bold</b>, <></>] });
`,
  'package.json': JSON.stringify({
    name: 'built',
    dependencies: { '@trigger.dev/sdk': '4', outside: '1.0.0' },
  }),
  'node_modules/conditional/package.json':
    '{"name":"conditional","type":"module","exports":{"special":"./special.js","default":"./plain.js"}}',
  'node_modules/conditional/special.js': `export const value = 'of the condition';`,
  'node_modules/conditional/plain.js': `export const value = 'without the condition';`,
  'node_modules/outside/package.json':
    '{"name":"outside","version":"1.0.0","type":"module","main":"./index.js"}',
  'node_modules/outside/index.js': 'export const other = 1;',
});
const builtSettings = `build: {
  conditions: ['special'], external: ['outside'], jsx: { automatic: false, factory: 'h', fragment: 'F' },
}`;

test('settings of the build act', { timeout: 60_000 }, async () => {
  const config = `{ dirs: ['./jobs'], runtime: 'node-22', tsconfig: './tsconfig.tasks.json', ${builtSettings} }`;
  const project = await loading(builtWith(config));
  expect([project.taskFiles, project.published?.config.notes]).toEqual([['jobs/page.tsx'], []]);
  const { entries, outputs, externals, problems } = await buildDeployment(project, 22);
  expect(problems).toEqual([]);
  const page = outputs.find(({ path }) => path === entries[0]?.module);
  const text = Buffer.from(page?.contents ?? []).toString();
  // A module that is shared with the entry of the packages.
  expect(outputs.some(({ contents }) => Buffer.from(contents).includes('of the condition'))).toBe(true);
  expect(text).toContain('aliased');
  expect(text).toMatch(/\bh\d*\("b"/);
  expect(text).toMatch(/\bh\d*\(F\d*\b/);
  expect(externals.map(({ name }) => name)).toContain('outside');
});

test('older names of settings act', async () => {
  const config = `{ triggerDirectories: ['./jobs'], tsconfigPath: './tsconfig.tasks.json' }`;
  const { taskFiles, published } = await loading(builtWith(config));
  expect([taskFiles, published?.config.tsconfig]).toEqual([['jobs/page.tsx'], './tsconfig.tasks.json']);
});

test('settings without an effect, and their members, are named', async () => {
  const config = `{
  telemetry: { spanProcessors: [{}], exporters: [] }, build: { minify: true, keepNames: true }, processKeepAlive: true, project: 'p',
}`;
  const { published } = await loading({
    'trigger.config.ts': `export default ${config};`,
    'trigger/a.ts': hello,
  });
  expect(published?.config.notes).toEqual([
    expect.stringMatching(/^telemetry\.spanProcessors: processors are not loaded/),
    expect.stringMatching(/^telemetry\.exporters: is not loaded/),
    expect.stringMatching(/^build\.minify: code is not minified/),
    expect.stringMatching(/^processKeepAlive: processes always execute many runs/),
  ]);
});

test('a setting of a later version is rejected by name', async () => {
  const files = { 'trigger/a.ts': hello, 'trigger.config.ts': 'export default {\n  forecast: true,\n};' };
  expect((await loading(files)).published?.config.notes).toEqual([]);
  const { dir, write } = await publishedProject('4.8', files, onTestFinished);
  await rm(join(dir, 'node_modules/@trigger.dev'), { recursive: true });
  await write(
    'node_modules/@trigger.dev/sdk/package.json',
    JSON.stringify({ name: '@trigger.dev/sdk', version: '4.9.0' }),
  );
  await expect(loadProject(dir)).rejects.toThrow(
    'trigger.config.ts:2:3: "forecast": not supported by Millrace: Millrace supports 4.0 to 4.8 of @trigger.dev/sdk, and 4.9.0 is installed',
  );
});

test('a configuration that throws is reported in one sentence with its line', async () => {
  const files = { 'trigger.config.ts': `\n\nthrow new Error('no');`, 'trigger/a.ts': hello };
  await expect(loading(files)).rejects.toThrow(/^trigger\.config\.ts:3:\d+: Error: no$/);
});

test('folders named trigger are found, without the files that match ignorePatterns', async () => {
  const files = {
    'trigger.config.ts': `export const config = { ignorePatterns: ['**/*.draft.ts'] };`,
    'src/trigger/a.ts': hello,
    'src/trigger/b.draft.ts': hello,
    'src/trigger/init.ts': '',
    'other/c.ts': hello,
  };
  const project = await loading(files);
  expect(project.taskFiles).toEqual(['src/trigger/init.ts', 'src/trigger/a.ts']);
  expect(project.defaults).toMatchObject({ preloads: ['src/trigger/init.ts'] });
});

const ofVersion = async (version: string | undefined): Promise<string> => {
  const files = { 'trigger/a.ts': hello, 'trigger.config.ts': 'export default {};' };
  const { dir, write } = await publishedProject('4.8', files, onTestFinished);
  await rm(join(dir, 'node_modules/@trigger.dev'), { recursive: true });
  if (version !== undefined)
    await write(
      'node_modules/@trigger.dev/sdk/package.json',
      JSON.stringify({ name: '@trigger.dev/sdk', version }),
    );
  return dir;
};

test('an older version and a missing one are rejected with instructions', async () => {
  await expect(loadProject(await ofVersion('3.3.17'))).rejects.toThrow(
    '@trigger.dev/sdk 3.3.17 is installed, and tasks of 4.0 or later run here: run `npm install @trigger.dev/sdk@4`',
  );
  await expect(loadProject(await ofVersion(undefined))).rejects.toThrow(
    '@trigger.dev/sdk is not installed: run `npm install`',
  );
});

test('a Millrace project may use any version of the package as a client', async () => {
  const dir = await ofVersion('3.3.17');
  await rm(join(dir, 'trigger.config.ts'));
  await mkdir(join(dir, 'tasks'));
  await writeFile(join(dir, 'tasks/a.ts'), '');
  expect(await loadProject(dir)).toMatchObject({ taskFiles: ['tasks/a.ts'], defaults: {} });
  const newer = await publishedProject('4.8', { 'tasks/a.ts': '', 'trigger/b.ts': hello }, onTestFinished);
  expect((await loadProject(newer.dir)).taskFiles).toEqual(['tasks/a.ts', 'trigger/b.ts']);
});

test(
  'a task has the file that exports it, and a file that throws has no tasks',
  { timeout: 60_000 },
  async () => {
    const files = {
      'trigger/a.ts': `
import { task } from '@trigger.dev/sdk';
import { hello } from './z';
export const first = task({ id: 'first', run: async () => hello.triggerAndWait().unwrap() });
`,
      'trigger/b.ts': `
import { task } from '@trigger.dev/sdk';
export const lost = task({ id: 'lost', run: async () => 1 });
throw new Error('too late');
`,
      'trigger/z.ts': `
import { task } from '@trigger.dev/sdk';
export const hello = task({ id: 'hello', run: async (_, { ctx }) => ctx.task.filePath });
`,
    };
    const { dir } = await publishedProject('4.8', files, onTestFinished);
    const served = await serve(dir, 'dev', onTestFinished);
    expect(served.problems).toMatchObject([{ file: 'trigger/b.ts', line: 4, message: 'Error: too late' }]);
    expect(await served.run('first')).toMatchObject({ output: 'trigger/z.ts' });
    const { body } = await served.server.ask('/api/v1/tasks', { key: served.key });
    expect(JSON.stringify(body)).toContain('hello');
    expect(JSON.stringify(body)).not.toContain('lost');
  },
);

test(
  'unsupported features are reported with their location, and the other tasks are served',
  { timeout: 60_000 },
  async () => {
    const files = {
      'trigger/a.ts': hello,
      'trigger/b.ts': `
import { concurrencyLimit, skills, task } from '@trigger.dev/sdk';

const limit = concurrencyLimit({ name: 'shared', total: 3 });
export const both = task({ id: 'both', concurrency: [limit, { total: 1 }], run: async () => {} });
export const skill = skills.define({ id: 'greets', path: './skills/greets' });
`,
      'trigger/c.ts': hello,
    };
    const { dir } = await publishedProject('4.8', files, onTestFinished);
    const { problems } = await serve(dir, 'dev', onTestFinished);
    expect(problems.map(({ file, line, message }) => [file, line, message])).toEqual([
      ['trigger/b.ts', 2, expect.stringMatching(/^skills: not supported by Millrace: add the folder/)],
      [
        'trigger/b.ts',
        6,
        expect.stringMatching(/^the skill "greets" \(skills\.define\) is not bundled here/),
      ],
      [
        'trigger/b.ts',
        5,
        expect.stringMatching(
          /^TaskDeclarationError: task "both": concurrency has 2 totals, but a queue has/,
        ),
      ],
      [
        'trigger/a.ts',
        null,
        expect.stringMatching(
          /^the task id "hello" is declared 2 times, in trigger\/a\.ts \(hello\) and trigger\/c\.ts \(hello\)/,
        ),
      ],
    ]);
  },
);

const preloading = {
  'trigger.config.ts': `
import { defineConfig } from '@trigger.dev/sdk';
export default defineConfig({ project: 'p', maxDuration: 60, 
  init: async () => ({ word: 'done' }),
  onStart: async () => console.log('config'),
  onFailure: async () => console.log('failed'),
});
`,
  'trigger/init.ts': `
import { tasks } from '@trigger.dev/sdk';
tasks.middleware('first', async ({ next }) => { console.log('init'); await next(); });
`,
  // A file without a task.
  'trigger/pager.ts': `
import { tasks } from '@trigger.dev/sdk';
tasks.onSuccess('pager', async () => console.log('hooks'));
`,
  'trigger/tasks.ts': `
import { task } from '@trigger.dev/sdk';
import { chat } from '@trigger.dev/sdk/ai';
import { existsSync, rmSync } from 'node:fs';
const run = async (_: unknown, { init }: { init?: { word: string } }) => init?.word;
export const shared = task({ id: 'shared', run });
export const sized = task({ id: 'sized', machine: 'small-1x', run });
export const agent = chat.agent({ id: 'agent', run: async () => 'done' });
export const fails = task({ id: 'fails', retry: { maxAttempts: 1 }, run: async () => { throw new Error('no'); } });
export const suspect = task({ id: 'suspect', run: async ({ once }: { once: string }) => {
  if (existsSync(once)) { rmSync(once); process.abort(); }
  return 'done';
} });
`,
};

test.each(ways)(
  'init.ts, and hooks of the configuration and of other files, are active in every process (%s)',
  { timeout: 120_000 },
  async (how) => {
    const { dir, write } = await publishedProject('4.8', preloading, onTestFinished);
    const served = await serve(dir, how, onTestFinished);
    expect(served.problems).toEqual([]);
    await write('once', '');
    for (const task of ['shared', 'sized', 'suspect']) {
      const run = await served.run(task, { once: join(dir, 'once') });
      expect(run).toMatchObject({ status: 'COMPLETED', output: 'done' });
      // An attempt that was aborted may have logged some lines as well.
      const lastMessages = async () =>
        (await served.allLogs(run.id, 3)).slice(-3).map(({ message }) => message);
      await expect.poll(lastMessages, { message: task }).toEqual(['init', 'config', 'hooks']);
    }
    const failed = await served.run('fails');
    expect((await served.allLogs(failed.id, 3)).map(({ message }) => message)).toContain('failed');
    const agent = await served.trigger('agent', { messages: [], chatId: 'c', trigger: 'submit-message' });
    const [first, second] = await served.allLogs(agent, 2);
    expect([first.message, second.message]).toEqual(['init', 'config']);
  },
);

const unusual = {
  'package.json': JSON.stringify({ name: 'unusual', dependencies: { '@trigger.dev/sdk': '4' } }),
  'tsconfig.json': JSON.stringify({
    compilerOptions: { experimentalDecorators: true, jsx: 'react-jsx', paths: { '@lib/*': ['./lib/*'] } },
  }),
  'trigger.config.ts': `
import { defineConfig } from '@trigger.dev/sdk/v3';
export default defineConfig({ project: 'p', maxDuration: 60, onStart: async ({ ctx }) => console.log('config ' + ctx.task.id) } as never);
`,
  'lib/text.ts': `export const text = 'aliased';`,
  'trigger/data.json': '{"json":true}',
  'trigger/note.txt': 'plain text',
  'trigger/old.cts': `
const { task } = require('@trigger.dev/sdk/v3');
exports.old = task({ id: 'old', run: async () => 'commonjs' });
`,
  'trigger/page.tsx': `
import { task } from '@trigger.dev/sdk';
import { text } from '@lib/text';
import { shared } from '@acme/shared';
import { renderToStaticMarkup } from 'react-dom/server';
import data from './data.json';
import note from './note.txt';
const ready = await Promise.resolve('awaited');
function tagged(_: object, name: string, descriptor: PropertyDescriptor) { descriptor.value = () => 'decorated ' + name; }
class Greeter { @tagged hello() { return ''; } }
export const page = task({ id: 'page', run: async () => [text, shared, data, note, ready, new Greeter().hello(), renderToStaticMarkup(<b>bold</b>)] });
`,
};

test(
  'aliases, JSX, decorators, JSON and text files, CommonJS and packages of a workspace work',
  { timeout: 120_000 },
  async () => {
    for (const how of ways) {
      const { dir, link } = await publishedProject('4.8', unusual, onTestFinished);
      for (const name of ['react', 'react-dom']) await link(name);
      // As a package manager links a workspace, with a source that Node.js cannot import.
      await mkdir(join(dir, 'packages/shared'), { recursive: true });
      await writeFile(
        join(dir, 'packages/shared/package.json'),
        '{"name":"@acme/shared","main":"./index.ts"}',
      );
      await writeFile(join(dir, 'packages/shared/index.ts'), `export { shared } from './value';`);
      await writeFile(
        join(dir, 'packages/shared/value.ts'),
        `enum Kind { Shared = 'workspace' }\nexport const shared: string = Kind.Shared;`,
      );
      await mkdir(join(dir, 'node_modules/@acme'), { recursive: true });
      await symlink(join(dir, 'packages/shared'), join(dir, 'node_modules/@acme/shared'));
      const served = await serve(dir, how, onTestFinished);
      expect(served.problems).toEqual([]);
      const page = await served.run('page');
      expect(page.output).toEqual([
        'aliased',
        'workspace',
        { json: true },
        'plain text',
        'awaited',
        'decorated hello',
        '<b>bold</b>',
      ]);
      expect(await served.allLogs(page.id, 1)).toMatchObject([{ message: 'config page' }]);
      expect(await served.run('old')).toMatchObject({ output: 'commonjs' });
    }
  },
);

const extended = {
  'trigger.config.ts': `
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
const words = {
  name: 'words',
  setup(build) {
    build.onResolve({ filter: /^virtual:words$/ }, () => ({ path: 'words', namespace: 'words' }));
    build.onLoad({ filter: /.*/, namespace: 'words' }, () => ({ contents: 'export const words = "from a plugin"' }));
  },
};
export default {
  build: {
    extensions: [
      { name: 'own', onBuildStart: (context) => context.registerPlugin(words) },
      { name: 'files', onBuildComplete: (_, { outputPath }) => writeFile(join(outputPath, 'note.txt'), 'from an extension') },
      { name: 'aptGet', onBuildComplete: (context) => context.addLayer({ id: 'apt-get', image: { pkgs: ['jq'] } }) },
    ],
  },
};
`,
  'trigger/a.ts': `
import { task } from '@trigger.dev/sdk';
import { readFile } from 'node:fs/promises';
import { words } from 'virtual:words';
export const a = task({ id: 'a', run: async () => [words, await readFile('note.txt', 'utf8').catch(() => 'none')] });
`,
};

test(
  'extensions add plugins and files, and unsupported additions are reported',
  { timeout: 120_000 },
  async () => {
    for (const how of ways) {
      const { dir } = await publishedProject('4.8', extended, onTestFinished);
      const { published } = await loadProject(dir);
      expect(published?.config.notes).toEqual([
        expect.stringMatching(
          /^the extension aptGet does nothing here: install the packages on the machines/,
        ),
      ]);
      const served = await serve(dir, how, onTestFinished);
      expect(await served.run('a')).toMatchObject({
        // Files are added only to deployments.
        output: ['from a plugin', how === 'prod' ? 'from an extension' : 'none'],
      });
    }
  },
);

test('an extension that requires an image is rejected by name', async () => {
  const config = `export default { build: { extensions: [{ name: 'jq', onBuildStart: (context) => context.addLayer({ id: 'jq', image: { pkgs: ['jq'] } }) }] } };`;
  const { dir } = await publishedProject(
    '4.8',
    { 'trigger.config.ts': config, 'trigger/a.ts': hello },
    onTestFinished,
  );
  await expect(serve(dir, 'prod', onTestFinished)).rejects.toThrow(
    'trigger.config.ts: the extension jq requires system packages, which deployments here do not support: remove it',
  );
});

test('tasks of both kinds coexist in one project and trigger each other', { timeout: 60_000 }, async () => {
  const { dir } = await publishedProject(
    '4.8',
    {
      'millrace.config.ts': `export default { dirs: ['./tasks'] };`,
      'tasks/ours.ts': `
import { task, tasks } from '@millrace/sdk';
export const ours = task({ id: 'ours', run: async () => (await tasks.triggerAndWait('hello').unwrap()) + ' from ours' });
`,
      'trigger/theirs.ts': `${hello}
import { tasks } from '@trigger.dev/sdk';
export const theirs = task({ id: 'theirs', run: async () => tasks.triggerAndWait('ours').unwrap() });
`,
    },
    onTestFinished,
  );
  const link = join(dir, 'node_modules/@millrace/sdk');
  await mkdir(dirname(link), { recursive: true });
  await symlink(sdk, link);
  const served = await serve(dir, 'dev', onTestFinished);
  expect(served.problems).toEqual([]);
  expect(await served.run('theirs')).toMatchObject({ status: 'COMPLETED', output: 'hello from ours' });
});

const monorepo = {
  'apps/web/package.json': JSON.stringify({ name: 'web', dependencies: { '@trigger.dev/sdk': '^4.8.0' } }),
  'apps/web/trigger.config.ts': 'export default {};',
  'apps/web/trigger/web.ts': `
import { tasks, task } from '@trigger.dev/sdk';
export { other } from '@acme/jobs';
export const web = task({ id: 'web', run: async () => tasks.triggerAndWait('other', 'web').unwrap() });
`,
  'packages/jobs/package.json': '{"name":"@acme/jobs","main":"./index.ts"}',
  'packages/jobs/index.ts': `
import { metadata, task } from '@trigger.dev/sdk';
export const other = task({ id: 'other', run: async (from: string) => { metadata.set('from', from); return 'other of ' + from; } });
`,
};

test(
  'a package hoisted to the root of a monorepo is found, and a second copy of it serves its tasks too',
  { timeout: 120_000 },
  async () => {
    for (const how of ways) {
      const { dir, link } = await publishedProject('4.8', monorepo, onTestFinished);
      await mkdir(join(dir, 'node_modules/@acme'), { recursive: true });
      await symlink(join(dir, 'packages/jobs'), join(dir, 'node_modules/@acme/jobs'));
      // Another version, as a package manager installs it if the root already has one.
      await link('../packages/jobs/node_modules/@trigger.dev/sdk', 'published-sdk-4.4');
      const served = await serve(join(dir, 'apps/web'), how, onTestFinished);
      expect(served.problems).toEqual([]);
      expect(await served.run('web')).toMatchObject({ status: 'COMPLETED', output: 'other of web' });
    }
  },
);

test('the same id in tasks of both kinds is rejected by name', { timeout: 60_000 }, async () => {
  const files = {
    'millrace.config.ts': `export default { dirs: ['./tasks'] };`,
    'tasks/ours.ts': `
import { task } from '@millrace/sdk';
export const greet = task({ id: 'hello', run: async () => 'ours' });
`,
    'trigger/theirs.ts': hello,
  };
  const { dir } = await publishedProject('4.8', files, onTestFinished);
  const link = join(dir, 'node_modules/@millrace/sdk');
  await mkdir(dirname(link), { recursive: true });
  await symlink(sdk, link);
  const { problems } = await serve(dir, 'dev', onTestFinished);
  expect(problems.map(({ message }) => message)).toEqual([
    expect.stringMatching(
      /^the task id "hello" is declared 2 times, in .*tasks\/ours\.ts .*trigger\/theirs\.ts/,
    ),
  ]);
});

test('syncEnvVars and resolveEnvVars set variables with a deployment', { timeout: 120_000 }, async () => {
  const server = await sharedServer();
  const { projectRef, url } = server;
  const key = server.keys.prod;
  // As the extension of @trigger.dev/build does.
  const config = `
    const sync = (layer) => ({
      name: 'SyncEnvVarsExtension',
      onBuildComplete(context, { environment, deploy }) {
        if (context.target === 'dev') return;
        context.addLayer({ id: 'sync-env-vars', deploy: layer({ project: context.config.project, environment, env: deploy.env }) });
      },
    });
    export const resolveEnvVars = async ({ projectRef, environment }) => ({
      variables: [{ name: 'RESOLVED', value: projectRef + ' ' + environment }, { name: 'TRIGGER_API_URL', value: 'not set' }],
    });
    export default {
      deploy: { env: { CONFIGURED: 'yes' } },
      build: {
        extensions: [
          sync(({ env }) => ({ env: { TASK_ID: 'named', KNOWN: env.KNOWN + '!' } })),
          sync(() => ({ env: { PRESENT: 'new', ADDED: 'yes' }, secretEnv: { HIDDEN: 'not to be seen' }, override: false })),
        ],
      },
    };`;
  const named = `
    import { task } from '@trigger.dev/sdk';
    export const hello = task({ id: process.env.TASK_ID ?? 'nameless', run: async () => 'hello' });`;
  const project = await loading({ 'trigger.config.ts': config, 'trigger/a.ts': named });
  const target = { url, key };
  const at = { projectRef, env: 'prod' } as const;
  await callServer(target, 'importVariables', {
    params: at,
    body: { variables: { KNOWN: 'old', PRESENT: 'old' }, override: false },
  });
  const prepared = await prepare(project, {
    environment: async () => ({
      env: { inherited: { PATH: process.env['PATH'] ?? '' }, added: { KNOWN: 'old', PRESENT: 'old' } },
      secrets: [],
      at: { projectRef, environment: 'prod', branch: undefined },
    }),
  });
  expect(prepared.tasks.map(({ id }) => id)).toEqual(['named']);
  // A deployment that is repeated sets them again.
  for (let time = 1; time <= 2; time += 1) await setVariables(target, at, prepared.variables);
  const set = await callServer(target, 'listVariables', { params: at });
  expect(
    Object.fromEntries(set.map(({ name, value, isSecret }) => [name, isSecret ? 'secret' : value])),
  ).toEqual({
    TASK_ID: 'named',
    KNOWN: 'old!',
    PRESENT: 'old',
    ADDED: 'yes',
    HIDDEN: 'secret',
    CONFIGURED: 'yes',
    RESOLVED: `${projectRef} prod`,
  });
});
