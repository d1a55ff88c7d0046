import { expect, test } from 'vitest';
import { serve, tasksFile } from './testing/serve.ts';

test('a task file that throws on import, or does not compile, is named with its line while the other tasks serve', async () => {
  const { peer, problems } = await serve({
    'tasks/good.ts': tasksFile({ good: 'return 1;' }),
    'tasks/throws.ts':
      "const key: string | undefined = process.env.NOT_SET;\n\nif (!key) throw new Error('NOT_SET is missing');\n",
    'tasks/deep/broken.ts': 'export const a = 1;\nconst b = ;\n',
    'tasks/exits.ts': 'process.exit(7);\n',
    'tasks/package.ts': "import 'not-installed';\n",
  });
  expect(await peer.outcome(peer.assign('good'))).toMatchObject({ kind: 'completed' });
  expect(problems).toContainEqual({
    file: 'tasks/throws.ts',
    line: 3,
    column: 17,
    message: 'Error: NOT_SET is missing',
  });
  expect(problems).toContainEqual(
    expect.objectContaining({ file: 'tasks/deep/broken.ts', line: 2, column: 11 }),
  );
  expect(problems).toContainEqual(
    expect.objectContaining({
      file: 'tasks/exits.ts',
      message: expect.stringContaining('exit code 7') as string,
    }),
  );
  expect(problems).toContainEqual(
    expect.objectContaining({
      file: 'tasks/package.ts',
      message: expect.stringContaining('not-installed') as string,
    }),
  );
  expect(problems).toHaveLength(4);
});

test('two tasks of one id are refused, both files are named, and the others serve', async () => {
  const { peer, problems } = await serve({
    'tasks/one.ts': tasksFile({ twin: '', other: '' }),
    'tasks/two.ts': tasksFile({ twin: '' }),
    'tasks/again.ts': "export { other } from './one.ts';",
  });
  expect(peer.registered[0]?.tasks.map(({ id }) => id)).toEqual(['other']);
  expect(problems).toHaveLength(1);
  expect(problems[0]?.message).toMatch(/"twin".*tasks\/one\.ts.*tasks\/two\.ts/);
});

test('a task that is not exported is told with its file and line, one of an imported file as well', async () => {
  const { peer, problems } = await serve({
    'tasks/hidden.ts': [
      "import { schedules, task } from '@millrace/sdk';",
      "import { shared } from '../lib/shared.ts';",
      "import '../lib/unserved.ts';",
      "const hidden = task({ id: 'hidden', run: async () => 1 });",
      "schedules.task({ id: 'nightly', cron: '0 0 * * *', run: async () => 1 });",
      'export { shared };',
      'export const list = [hidden];',
    ].join('\n'),
    'tasks/scheduled.ts':
      "import { schedules } from '@millrace/sdk';\nexport const hourly = schedules.task({ id: 'hourly', cron: '0 * * * *', run: async () => 1 });",
    'tasks/throws.ts':
      "import { task } from '@millrace/sdk';\ntask({ id: 'lost', run: async () => 1 });\nthrow new Error('no');",
    'lib/shared.ts':
      "import { task } from '@millrace/sdk';\nexport const shared = task({ id: 'shared', run: async () => 1 });",
    'lib/unserved.ts':
      "import { task } from '@millrace/sdk';\nexport const unserved = task({ id: 'unserved', run: async () => 1 });",
  });
  expect(peer.registered[0]?.tasks.map(({ id }) => id).toSorted()).toEqual(['hourly', 'shared']);
  const told = problems.map(({ file, line, message }) => `${file}:${line}: ${message}`).toSorted();
  expect(told).toEqual([
    'lib/unserved.ts:2: task "unserved" is defined in lib/unserved.ts but not exported, so nothing serves it: export it from a file in a task folder, such as tasks/hidden.ts',
    'tasks/hidden.ts:4: task "hidden" is defined in tasks/hidden.ts but not exported, so nothing serves it: export it from there',
    'tasks/hidden.ts:5: task "nightly" is defined in tasks/hidden.ts but not exported, so nothing serves it: export it from there',
    'tasks/throws.ts:3: Error: no',
  ]);
});

test('a version that is registered before the server has answered a hello without it is told of after that', async () => {
  const { peer, project, versions } = await serve(
    { 'tasks/all.ts': tasksFile({ one: 'return 1;' }) },
    { watch: true },
    (prepared) => (prepared.leaseMs = 60_000),
  );
  peer.welcomes = false;
  peer.cut();
  await peer.until(() => peer.hellos.length === 2);
  await project.write('tasks/all.ts', tasksFile({ one: 'return 2;' }));
  await expect.poll(() => versions.length, { timeout: 20_000 }).toBe(2);
  peer.welcome();
  const served = () =>
    peer.received.flatMap((message) => (message.type === 'serve' ? [message.versions.at(-1)] : []));
  await peer.until(() => served().at(-1) === peer.version);
});

test('an edit registers a new version within a second, and what runs finishes on its own', async () => {
  const { peer, project, versions } = await serve(
    {
      'lib/word.ts': "export const word = 'old';",
      'tasks/all.ts':
        "import { word } from '../lib/word.ts';\n" +
        tasksFile({ say: "console.log('began'); await sleep(payload); return word;" }),
    },
    { watch: true },
  );
  const old = peer.assign('say', 1_500);
  await peer.line(`run_${old}`, 'began');
  const edited = performance.now();
  await project.write('lib/word.ts', "export const word = 'new';");
  await peer.until(() =>
    peer.received.some((message) => message.type === 'serve' && message.versions.length === 2),
  );
  // A second, and the rest for a busy machine.
  expect(performance.now() - edited).toBeLessThan(3_000);
  expect(await peer.outcome(peer.assign('say', 1))).toMatchObject({ output: 'new' });
  expect(peer.outcomes.has(old)).toBe(false);
  expect(await peer.outcome(old)).toMatchObject({ output: 'old' });
  // A retry of a run that is bound to the older version.
  expect(await peer.outcome(peer.assign('say', 1, { version: '20261121.1' }))).toMatchObject({
    output: 'old',
  });
  expect(versions.map(({ version }) => version)).toEqual(['20261121.1', '20261121.2']);
});

test('a mistake in an edit is reported while the version before it serves, and mending it is enough', async () => {
  const { peer, project, problems } = await serve(
    { 'tasks/all.ts': tasksFile({ say: 'return 1;' }) },
    { watch: true },
  );
  await project.write('millrace.config.ts', 'export default {\n  dirs: 3,\n};');
  await project.write('tasks/new.ts', 'throw 1');
  await expect.poll(() => problems.length).toBeGreaterThan(0);
  expect(problems[0]).toMatchObject({
    file: 'millrace.config.ts',
    message: expect.stringContaining('"dirs"') as string,
  });
  expect(await peer.outcome(peer.assign('say'))).toMatchObject({ output: '1' });
  await project.write('tasks/new.ts', tasksFile({ more: 'return 2;' }));
  await project.write('millrace.config.ts', 'export default {};');
  await peer.until(() => peer.registered.at(-1)?.tasks.length === 2);
  await peer.until(
    () => peer.received.filter(({ type }) => type === 'serve').length === peer.registered.length,
  );
  expect(await peer.outcome(peer.assign('more'))).toMatchObject({ output: '2' });
});

test('a runner that starts again serves the versions that an earlier one left', async () => {
  const first = await serve({ 'tasks/all.ts': tasksFile({ say: "return 'first';" }) });
  await first.runner.stop();
  await first.project.write('tasks/all.ts', tasksFile({ say: "return 'second';" }));
  const { startRunner } = await import('./index.ts');
  const { peer, project } = first;
  const runner = await startRunner({
    url: peer.url,
    secretKey: peer.secretKey,
    projectDir: project.dir,
    watch: false,
  });
  expect(await peer.outcome(peer.assign('say', null, { version: '20261121.1' }))).toMatchObject({
    output: 'first',
  });
  expect(await peer.outcome(peer.assign('say'))).toMatchObject({ output: 'second' });
  await runner.stop();
});

test('a file that threw for want of a variable is served once the variable is there', async () => {
  const file =
    `if (!process.env.TOKEN) throw new Error('TOKEN');\n${tasksFile({ needs: 'return process.env.TOKEN;' })}`.replace(
      /^(.*\n)(import .*\n)(import .*\n)/,
      '$2$3$1',
    );
  const { peer, problems } = await serve({ 'tasks/all.ts': file });
  expect(problems).toHaveLength(1);
  peer.send({ type: 'variables', variables: { TOKEN: 'abc' } });
  await peer.until(() => peer.registered.at(-1)?.tasks.length === 1);
  await peer.until(() => peer.received.filter(({ type }) => type === 'serve').length === 2);
  expect(await peer.outcome(peer.assign('needs'))).toMatchObject({ output: 'abc' });
});
