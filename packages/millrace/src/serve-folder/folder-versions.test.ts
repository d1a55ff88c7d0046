import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startTestRunner, tasksFile } from '../../../runner/src/runner/testing/runner.ts';

test('a task file that throws on import or does not compile is reported with its line; other tasks are served', async () => {
  const { peer, problems } = await startTestRunner({
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

test('an asynchronous error during an import is reported for its file; tasks of other files are served', async () => {
  const { peer, problems } = await startTestRunner({
    'tasks/a.ts': [
      "import { task, tasks } from '@millrace/sdk';",
      "void tasks.trigger('good', {});",
      "export const a = task({ id: 'a', run: async () => 1 });",
    ].join('\n'),
    'tasks/b.ts': [
      "import { task } from '@millrace/sdk';",
      "void Promise.reject('no stack');",
      "export const b = task({ id: 'b', run: async () => 1 });",
    ].join('\n'),
    'tasks/c.ts': [
      "import { task } from '@millrace/sdk';",
      "setImmediate(() => { throw new Error('late'); });",
      "export const c = task({ id: 'c', run: async () => 1 });",
    ].join('\n'),
    'tasks/good.ts': tasksFile({ good: 'return 1;' }),
    'tasks/last.ts': [
      "import { task, tasks } from '@millrace/sdk';",
      "export const last = task({ id: 'last', run: async () => 1 });",
      "void tasks.trigger('good', {});",
    ].join('\n'),
  });
  expect(peer.registered[0]?.tasks.map(({ id }) => id).toSorted()).toEqual(['a', 'b', 'good', 'last']);
  const reported = problems.map(({ file, line, message }) => `${file}:${line}: ${message}`).toSorted();
  expect(reported).toEqual([
    expect.stringMatching(/^tasks\/a\.ts:2: .*There is no credential here.*\.$/),
    'tasks/b.ts:null: no stack',
    'tasks/c.ts:2: Error: late',
    expect.stringMatching(/^tasks\/last\.ts:3: .*There is no credential here.*\.$/),
  ]);
  // The process that serves them has imported the same files.
  expect(await peer.outcome(peer.assign('good'))).toMatchObject({ kind: 'completed' });
});

test('two tasks with the same ID are rejected with both files; the others are served', async () => {
  const { peer, problems } = await startTestRunner({
    'tasks/one.ts': tasksFile({ same: '', other: '' }),
    'tasks/two.ts': tasksFile({ same: '' }),
    'tasks/again.ts': "export { other } from './one.ts';",
  });
  expect(peer.registered[0]?.tasks.map(({ id }) => id)).toEqual(['other']);
  expect(problems).toHaveLength(1);
  expect(problems[0]?.message).toMatch(/"same".*tasks\/one\.ts.*tasks\/two\.ts/);
});

test('a task that is not exported is reported with its file and line, also in an imported file', async () => {
  const { peer, problems } = await startTestRunner({
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
  const reported = problems.map(({ file, line, message }) => `${file}:${line}: ${message}`).toSorted();
  expect(reported).toEqual([
    'lib/unserved.ts:2: task "unserved" is defined in lib/unserved.ts but not exported, so nothing serves it: export it from a file in a task folder, such as tasks/hidden.ts',
    'tasks/hidden.ts:4: task "hidden" is defined in tasks/hidden.ts but not exported, so nothing serves it: export it from there',
    'tasks/hidden.ts:5: task "nightly" is defined in tasks/hidden.ts but not exported, so nothing serves it: export it from there',
    'tasks/throws.ts:3: Error: no',
  ]);
});

test('a version registered before the welcome is reported after it', async () => {
  const { peer, project, versions } = await startTestRunner(
    { 'tasks/all.ts': tasksFile({ count: 'return 1;' }) },
    { watch: true },
    (prepared) => (prepared.leaseMs = 60_000),
  );
  peer.welcomes = false;
  peer.cut();
  await peer.until(() => peer.hellos.length === 2);
  await project.write('tasks/all.ts', tasksFile({ count: 'return 2;' }));
  await expect.poll(() => versions.length, { timeout: 20_000 }).toBe(2);
  peer.welcome();
  const served = () =>
    peer.received.flatMap((message) => (message.type === 'serve' ? [message.versions.at(-1)] : []));
  await peer.until(() => served().at(-1) === peer.version);
});

test('an edit registers a new version within a second; active runs finish on theirs', async () => {
  const { peer, project, versions } = await startTestRunner(
    {
      'lib/word.ts': "export const word = 'old';",
      'tasks/all.ts':
        "import { word } from '../lib/word.ts';\n" +
        tasksFile({ say: "console.log('began'); await sleep(payload); return word;" }),
    },
    { watch: true },
  );
  const old = peer.assign('say', 4_000);
  await peer.line(`run_${old}`, 'began');
  const edited = performance.now();
  await project.write('lib/word.ts', "export const word = 'new';");
  await peer.until(() =>
    peer.received.some((message) => message.type === 'serve' && message.versions.length === 2),
  );
  // A second, plus a margin for a busy machine.
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

test('removing and restoring a file creates a version each time, also for an imported file', async () => {
  const { peer, project, problems } = await startTestRunner(
    {
      'tasks/stays.ts': tasksFile({ stays: 'return 1;' }),
      'tasks/goes.ts': tasksFile({ goes: 'return 1;' }),
      'tasks/imports.ts': `import '../lib/side.ts';\n${tasksFile({ imports: '' })}`,
      'lib/side.ts': 'export {};',
    },
    { watch: true },
  );
  const served = (): string | undefined =>
    peer.registered
      .at(-1)
      ?.tasks.map(({ id }) => id)
      .toSorted()
      .join();
  const timeout = 10_000;
  for (let time = 0; time < 2; time += 1) {
    await rm(join(project.dir, 'tasks/goes.ts'));
    await expect.poll(served, { timeout }).toBe('imports,stays');
    await project.write('tasks/goes.ts', tasksFile({ goes: `return ${time};` }));
    await expect.poll(served, { timeout }).toBe('goes,imports,stays');
    await rm(join(project.dir, 'lib/side.ts'));
    await expect.poll(served, { timeout }).toBe('goes,stays');
    await project.write('lib/side.ts', `export const side = ${time};`);
    await expect.poll(served, { timeout }).toBe('goes,imports,stays');
  }
  await project.write('tasks/goes.ts', tasksFile({ edited: '' }));
  await expect.poll(served, { timeout }).toBe('edited,imports,stays');
  expect(problems).not.toEqual([]);
});

test('an error in an edit is reported while the previous version is served, until it is fixed', async () => {
  const { peer, project, problems } = await startTestRunner(
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

test('a restarted runner serves the versions of an earlier one', async () => {
  const first = await startTestRunner({ 'tasks/all.ts': tasksFile({ say: "return 'first';" }) });
  await first.runner.stop();
  await first.project.write('tasks/all.ts', tasksFile({ say: "return 'second';" }));
  const { startRunner } = await import('./start.ts');
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

test('a file that threw because of a missing variable is served once it is set', async () => {
  const file =
    `if (!process.env.TOKEN) throw new Error('TOKEN');\n${tasksFile({ needs: 'return process.env.TOKEN;' })}`.replace(
      /^(.*\n)(import .*\n)(import .*\n)/,
      '$2$3$1',
    );
  const { peer, problems } = await startTestRunner({ 'tasks/all.ts': file });
  expect(problems).toHaveLength(1);
  peer.send({ type: 'variables', variables: { TOKEN: 'abc' } });
  await peer.until(() => peer.registered.at(-1)?.tasks.length === 1);
  await peer.until(() => peer.received.filter(({ type }) => type === 'serve').length === 2);
  expect(await peer.outcome(peer.assign('needs'))).toMatchObject({ output: 'abc' });
});
