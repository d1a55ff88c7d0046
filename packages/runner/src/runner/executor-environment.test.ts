import { chmod } from 'node:fs/promises';
import { expect, onTestFinished, test } from 'vitest';
import { startTestRunner, tasksFile } from './testing/runner.ts';
import type { Peer } from './testing/peer.ts';

/** Sets variables of the runner's process for the duration of a test. */
function setting(values: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(values)) {
    const before = process.env[name];
    process.env[name] = value;
    onTestFinished(() => {
      if (before === undefined) delete process.env[name];
      else process.env[name] = before;
    });
  }
}

// The test checks what a task reports.
// oxlint-disable-next-line typescript/no-explicit-any
const outputOf = async (peer: Peer, task: string): Promise<any> => {
  const outcome = await peer.outcome(peer.assign(task));
  if (outcome.kind !== 'completed') throw new Error(JSON.stringify(outcome));
  return JSON.parse(outcome.output ?? 'null');
};

const everything = `
  const { readFileSync } = await import('node:fs');
  const own = (file: string) => process.platform === 'linux' ? readFileSync('/proc/self/' + file, 'latin1') : '';
  return { env: { ...process.env }, argv: process.argv, execArgv: process.execArgv, environ: own('environ'), cmdline: own('cmdline') };`;

test('a task finds no Millrace credential in its environment, its arguments or /proc', async () => {
  setting({
    MILLRACE_SECRET_KEY: 'svc_prod_sk_AAAAAAAAAAAAAAAAAAAAAAAA',
    MILLRACE_ACCESS_TOKEN: 'svc_pat_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
    MILLRACE_MASTER_KEY: 'bWFzdGVyLWtleS1vZi10aGUtc2VydmVyLWluLXRlc3Rz',
    DATABASE_URL: 'postgres://millrace:hunter2hunter2@db.internal/millrace',
    DATABASE_DIRECT_URL: 'postgres://millrace:hunter3hunter3@db.internal/millrace',
    PGPASSWORD: 'hunter4hunter4',
    PASSED_TO_TASKS: 'kept',
  });
  const { peer } = await startTestRunner({ 'tasks/all.ts': tasksFile({ everything }) });
  const output = await outputOf(peer, 'everything');
  expect(output.env).toMatchObject({ PASSED_TO_TASKS: 'kept', MILLRACE_API_URL: peer.url });
  const text = JSON.stringify(output);
  for (const secret of [peer.secretKey, 'AAAAAAAA', 'svc_pat_', 'bWFzdGVy', 'hunter'])
    expect(text).not.toContain(secret);
  expect(Object.keys(output.env).filter((name) => /^MILLRACE_|^DATABASE_|^PGPASS/.test(name))).toEqual([
    'MILLRACE_API_URL',
  ]);
});

test("nor in its environment's variables or another base", async () => {
  const { peer } = await startTestRunner(
    { 'tasks/all.ts': tasksFile({ everything }) },
    // As `millrace dev` passes the contents of .env.
    { env: { PATH: process.env['PATH'] ?? '', DATABASE_URL: 'postgres://mine', MILLRACE_SECRET_KEY: 'x' } },
  );
  const { env } = await outputOf(peer, 'everything');
  expect(env).toMatchObject({ DATABASE_URL: 'postgres://mine' });
  expect(env).not.toHaveProperty('MILLRACE_SECRET_KEY');
});

test('variables are set before a file is imported, and do not affect the start of a process', async () => {
  const loaded =
    'export const atImport = { planet: process.env.PLANET, hacked: Boolean((globalThis as any).hacked) };';
  const startup = `
    const { readFileSync } = await import('node:fs');
    return { ...atImport, options: process.env.NODE_OPTIONS, environ: process.platform === 'linux' ? readFileSync('/proc/self/environ', 'latin1') : '' };`;
  const evil = '--import=data:text/javascript,globalThis.hacked=true';
  const { peer } = await startTestRunner(
    { 'tasks/all.ts': `${loaded}\n${tasksFile({ startup })}` },
    {},
    (prepared) => {
      // It may have been stored before such names were rejected.
      prepared.variables = { PLANET: 'Mars', NODE_OPTIONS: evil, LD_PRELOAD: '/nowhere/evil.so' };
    },
  );
  const output = await outputOf(peer, 'startup');
  expect(output).toMatchObject({ planet: 'Mars', options: evil });
  expect(output.hacked).toBe(false);
  expect(output.environ).not.toMatch(/data:text|evil\.so|PLANET/);
});

test('variables do not affect the process that indexes tasks', async () => {
  const evil = `--import=data:text/javascript,${encodeURIComponent(
    "globalThis.hacked = true; process.stderr.write('HACKED');",
  )}`;
  const file =
    "import { task } from '@millrace/sdk';\n" +
    "export const t = task({ id: (globalThis as any).hacked ? 'hacked' : `on-${process.env.PLANET}`, run: async () => 1 });";
  const { peer } = await startTestRunner({ 'tasks/all.ts': file }, {}, (prepared) => {
    prepared.variables = { PLANET: 'Mars', NODE_OPTIONS: evil };
  });
  expect(peer.registered[0]?.tasks.map(({ id }) => id)).toEqual(['on-Mars']);
});

const isRoot = process.getuid?.() === 0;

test.runIf(isRoot)('as another user, tasks cannot read the environment of the runner', async () => {
  const inspect = `
    const { readFileSync } = await import('node:fs');
    const of = (pid: number) => { try { return readFileSync('/proc/' + pid + '/environ', 'latin1').length; } catch (error: any) { return error.code; } };
    return { uid: process.getuid!(), home: process.env.HOME, runner: of(process.ppid), own: typeof of(process.pid) };`;
  const { peer, project } = await startTestRunner(
    { 'tasks/all.ts': tasksFile({ inspect }) },
    { runAs: 'nobody' },
    undefined,
    // Like a project folder; a test folder is accessible only to its creator.
    (dir) => chmod(dir, 0o755),
  );
  const output = await outputOf(peer, 'inspect');
  expect(output).toMatchObject({ runner: process.platform === 'linux' ? 'EACCES' : 'ENOENT' });
  expect(output.uid).not.toBe(0);
  expect(output.home).not.toBe(process.env['HOME']);
  await chmod(project.dir, 0o700);
});

test('rejects a user that does not exist, cannot read the project or is root before the start', async () => {
  const file = { 'tasks/all.ts': tasksFile({ t: '' }) };
  const refused = (runAs: string) =>
    startTestRunner(file, { runAs }).then(
      () => 'started',
      (error: Error) => error.message,
    );
  if (!isRoot) return expect(await refused('nobody')).toMatch(/only root/);
  expect(await refused('nobody-of-this-name')).toMatch(/no such user/);
  expect(await refused('root')).toMatch(/must not be root/);
  expect(await refused('nobody')).toMatch(/cannot run .* or read/);
});
