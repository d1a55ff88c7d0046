/** No hostile text controls the reader's terminal, in any command that shows it. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { main } from '../../packages/millrace/src/cli/main.ts';
import { hostile, hostileServer, type HostileServer } from './hostile-server.ts';
import { millrace, repository, startDev, temporaryProject } from './command.ts';
import { finished } from './in-process.ts';
import { program } from '../../packages/millrace/src/cli/program.ts';
import { leaves } from './leaves.ts';

/** Control characters of a terminal. Line ends and tabs are our own, and color sequences where the stream is a terminal. */
const obeyed = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f]/;

const connection = (url: string): string[] => ['--url', url, '--key', 'svc_prod_sk_0'];

/**
 * The arguments with which each command shows something: with `mute` it shows no foreign text; with `alone` it has a separate test below. A
 * command that is missing here fails the test.
 */
type Row = { readonly args?: readonly string[]; readonly mute?: boolean } | 'alone';

const rows: Readonly<Record<string, Row>> = {
  init: 'alone',
  dev: 'alone',
  demo: 'alone',
  doctor: 'alone',
  'backup create': 'alone',
  'backup list': 'alone',
  restore: 'alone',
  // It reads a data folder.
  'upgrade-data': 'alone',
  start: 'alone',
  work: 'alone',
  trigger: { args: [hostile, '--wait'] },
  'outbox sql': 'alone',
  'outbox install': 'alone',
  'outbox drain': 'alone',
  // They connect to a database.
  'sql-views sql': 'alone',
  'sql-views install': 'alone',
  'sql-views grant': 'alone',
  'sql-views revoke': 'alone',
  'runs list': { args: ['--limit', '1'] },
  'runs show': { args: ['run_1'] },
  'runs watch': { args: ['run_1'] },
  'runs cancel': { args: [hostile] },
  'runs replay': { args: ['run_1'] },
  'runs bulk list': { args: ['--limit', '1'] },
  'runs bulk show': { args: ['bulk_1'], mute: true },
  'runs bulk abort': { args: ['bulk_1'], mute: true },
  'runs erase': { args: ['run_1', '--yes'], mute: true },
  'runs erasures list': { args: ['--limit', '1'] },
  'runs erasures show': { args: ['erasure_1'], mute: true },
  'runs erasures abort': { args: ['erasure_1'], mute: true },
  // It writes files: see test/erasures.
  'runs archive': 'alone',
  'runs paths list': {},
  'runs paths add': { args: [hostile] },
  'runs paths remove': { args: [hostile] },
  'tasks list': {},
  'tasks show': { args: ['mail'] },
  why: { args: ['run_1'] },
  'batches list': { args: ['--limit', '1'] },
  'queues list': {},
  'queues pause': { args: ['mail'] },
  'queues resume': { args: ['mail'] },
  'queues limit': { args: ['mail', '--to', '1'] },
  'queues rate': { args: ['mail', '--to', '1/1s'] },
  'queues weight': { args: ['mail', 'key', '--to', '2'] },
  'queues shared list': {},
  'queues shared set': { args: ['all', '--to', '1'], mute: true },
  'models usage': { args: ['--by', 'task'] },
  'models prices list': {},
  'models prices set': { args: ['m', '--input', '1', '--output', '1'] },
  'models prices delete': { args: ['m'] },
  logs: { args: ['run_1'] },
  'errors list': { args: ['--limit', '1'] },
  'errors show': { args: ['error_1'] },
  'errors history': { args: ['error_1', '--limit', '1'] },
  'errors resolve': { args: ['error_1'] },
  'errors ignore': { args: ['error_1'] },
  'errors unresolve': { args: ['error_1'] },
  'errors merge': { args: ['error_1', 'error_2'] },
  'errors assign': { args: ['error_1', '@payments'] },
  'errors note': { args: ['error_1', 'text'] },
  'errors link': { args: ['error_1', 'https://example.com/1'] },
  'errors split': { args: ['error_1', 'f'] },
  'errors rules list': {},
  'errors rules add': { args: ['--group', 'g'] },
  'errors rules change': { args: ['rule_1'] },
  'errors rules remove': { args: [hostile] },
  'errors rules try': { args: ['--group', 'g'] },
  'events send': { args: ['name'] },
  'events list': { args: ['--limit', '1'] },
  'events show': { args: ['event_1'] },
  'events replay': { args: ['event_1'] },
  'events cancel': { args: ['event_1'] },
  'webhooks list': {},
  'webhooks deliveries': { args: ['--limit', '1'] },
  'webhooks show': { args: ['whd_1'] },
  'webhooks replay': { args: ['whd_1'] },
  'webhooks send': { args: [hostile] },
  'alerts list': {},
  'alerts show': { args: ['alert_1'] },
  'alerts add': { args: ['error.new'] },
  'alerts update': { args: ['alert_1'] },
  'alerts enable': { args: ['alert_1'] },
  'alerts disable': { args: ['alert_1'] },
  'alerts remove': { args: [hostile] },
  'notifications list': {},
  'notifications add webhook': { args: ['https://example.com'] },
  // It reads its address on stdin and shows the same as the other two.
  'notifications add slack': 'alone',
  'notifications add email': {
    args: ['--smtp', 'smtps://smtp.example.com', '--from', 'a@example.com', '--to', 'b@example.com'],
  },
  'notifications test': { args: ['endpoint_1'] },
  'notifications enable': { args: [hostile] },
  'notifications disable': { args: [hostile] },
  'notifications remove': { args: [hostile] },
  'notifications deliveries': {},
  'notifications replay': { args: [hostile] },
  // It reads another server.
  'import trigger': 'alone',
  // Their test is in test/transfer: they need a key's rights, and a file.
  export: 'alone',
  'import environment': 'alone',
  'env list': {},
  'env set': { args: [`${hostile}=1`] },
  'env unset': { args: [hostile] },
  'env pull': { args: ['pulled.env', '--force'] },
  'env push': { args: ['pulled.env'], mute: true },
  'env import': { args: ['pulled.env'], mute: true },
  'env history': { args: ['--limit', '1'] },
  'env diff': { args: ['1'] },
  'env rollback': { args: ['1'] },
  login: {},
  logout: 'alone',
  whoami: {},
  open: { args: ['--no-browser'] },
  'browsers list': {},
  'browsers revoke': { args: ['browser_1'] },
  resume: { mute: true },
  'orgs list': {},
  'orgs create': { args: ['n'] },
  'orgs rename': { args: ['n'] },
  'orgs join': { args: ['t'] },
  'orgs leave': { args: [] },
  'members list': {},
  'members invite': { args: ['a@example.com'] },
  'members invitations': {},
  'members uninvite': { args: ['invite_1'] },
  'members role': { args: ['user_1', 'member'] },
  'members remove': { args: ['user_1'] },
  'members set-password': { args: ['--remove'] },
  'projects list': {},
  'projects create': { args: ['n'] },
  'projects environments': {},
  'projects pause': { args: ['preview', '--branch', 'b'], mute: true },
  'projects resume': { args: ['preview', '--branch', 'b'], mute: true },
  'projects delete': { args: [hostile, '--confirm', 'x'] },
  'keys list': {},
  'keys create': { args: ['n'] },
  'keys rotate': { args: ['key_1'] },
  'keys revoke': { args: ['key_1'] },
  'keys rotate-master': 'alone',
  'tokens list': {},
  'tokens create': { args: ['n'] },
  'tokens approve': { args: ['BCDF-GHJK', '--yes'] },
  'tokens revoke': { args: ['pat_1'] },
  'branches list': {},
  'branches create': { args: [hostile] },
  'branches archive': { args: [hostile] },
  deploy: 'alone',
  'versions list': { args: ['--limit', '1'] },
  'versions show': { args: ['20261121.1'] },
  'versions compare': {},
  'versions promote': { args: ['20261121.1'] },
  'versions rollback': { args: [] },
  'versions abort': { args: ['20261121.1'] },
  'versions move': { args: ['20261121.1', '20261121.2', '--yes'] },
  'versions archive': { args: ['20261121.1', '--yes'] },
  'runners list': {},
  help: 'alone',
  completion: 'alone',
  'runners drain': { args: ['runner_1'] },
  'runners stop': { args: ['runner_1'] },
  'schedules list': { args: ['--limit', '1'] },
  'schedules show': { args: ['sched_1'] },
  'schedules create': { args: ['report', '0 9 * * *', '--deduplication-key', 'k'] },
  'schedules ticks': { args: ['sched_1', '--limit', '1'] },
  'schedules preview': 'alone',
  // It writes JSON for a program: see test/agents.
  mcp: 'alone',
  'schedules activate': { args: ['sched_1'] },
  'schedules deactivate': { args: ['sched_1'] },
  'schedules backfill': { args: ['sched_1', '--from', '2026-01-01', '--to', '2026-01-02'] },
  audit: { args: ['--org', 'org_1', '--limit', '1'] },
  storage: {},
  stats: { args: ['--by', 'task'] },
};

test('every command has a row', async () => {
  expect(Object.keys(rows).toSorted()).toEqual([...leaves(await program()).keys()].toSorted());
});

describe('a server that replies with hostile texts', () => {
  let server: HostileServer;
  let folder: string;
  const before = process.cwd();
  beforeAll(async () => {
    server = await hostileServer();
    folder = await mkdtemp(join(tmpdir(), 'millrace-hostile-'));
    process.chdir(folder);
    vi.stubEnv('XDG_CONFIG_HOME', folder);
  });
  afterEach(() => {
    vi.restoreAllMocks();
    server.refuses = false;
    process.exitCode = undefined;
  });
  afterAll(async () => {
    process.chdir(before);
    vi.unstubAllEnvs();
    await server.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** The output of a command on both streams. */
  async function outputOf(...args: string[]): Promise<{ exitCode: number; stdout: string; all: string }> {
    const written = { stdout: '', all: '' };
    for (const stream of ['stdout', 'stderr'] as const) {
      vi.spyOn(process[stream], 'write').mockImplementation((text) => {
        if (stream === 'stdout') written.stdout += String(text);
        written.all += String(text);
        return true;
      });
    }
    const exitCode = await main(args);
    vi.restoreAllMocks();
    process.exitCode = undefined;
    return { exitCode, ...written };
  }

  const served = Object.entries(rows).flatMap(([command, row]) =>
    row === 'alone' ? [] : [{ command, ...row }],
  );

  test.each(served)(
    'is shown by `$command` in visible form, and controls nothing',
    async ({ command, args = [], mute }) => {
      const words = [...command.split(' '), ...args, ...connection(server.url)];
      server.requests.length = 0;
      const people = await outputOf(...words);
      expect(server.requests.length).toBeGreaterThan(0);
      expect(people.all).not.toMatch(obeyed);
      expect([0, 1]).toContain(people.exitCode);
      // Otherwise no harmful text would be shown.
      if (!mute) expect(people.all).toContain('hostile␛[2K');
      const programs = await outputOf(...words, '--json');
      expect(programs.all).not.toMatch(obeyed);
      for (const line of programs.stdout.trim().split('\n')) {
        if (line !== '') JSON.parse(line);
      }
      server.refuses = true;
      const refused = await outputOf(...words);
      expect(refused.all).not.toMatch(obeyed);
      expect(refused.all).toContain('hostile␛[2K');
    },
  );

  test.each([[['--limit', '1']], [['run_1', '--follow']]])(
    'is shown by `logs %s` in visible form',
    async (args) => {
      const { all } = await outputOf('logs', ...args, ...connection(server.url));
      expect(all).not.toMatch(obeyed);
      expect(all).toContain('hostile␛[2K');
    },
  );

  test('is shown by `import trigger`, also when the source sends it', async () => {
    const from = [
      '--from',
      server.url.replace('127.0.0.1', 'localhost'),
      '--from-token',
      'tr_pat_0',
      '--from-key',
      'tr_prod_0',
    ];
    const words = ['import', 'trigger', '--from-project', 'p', ...from, ...connection(server.url)];
    for (const args of [[], ['--json'], ['--apply', '--runs', 'runs.ndjson']]) {
      const { all, exitCode } = await outputOf(...words, ...args);
      expect([0, 1]).toContain(exitCode);
      expect(all).not.toMatch(obeyed);
      if (!args.includes('--json')) expect(all).toContain('hostile␛[2K');
    }
    server.refuses = true;
    const refused = await outputOf(...words);
    expect(refused.all).not.toMatch(obeyed);
    expect(refused.all).toContain('hostile␛[2K');
  });

  test('is shown unchanged by `logs --raw`', async () => {
    const { stdout } = await outputOf('logs', 'run_1', '--raw', ...connection(server.url));
    expect(stdout).toContain(hostile);
  });

  test('controls nothing in text that the command line itself quotes', async () => {
    for (const args of [
      [hostile],
      ['trigger', 'x', '--payload', hostile],
      ['schedules', 'preview', hostile],
      ['logs', 'a', `--${hostile}`],
    ]) {
      const { all, exitCode } = await outputOf(...args);
      expect(exitCode).toBe(2);
      expect(all).toContain('hostile␛[2K');
      expect(all).not.toMatch(obeyed);
    }
  });

  test('controls nothing where a login is forgotten, and where a project is written', async () => {
    vi.stubEnv('XDG_CONFIG_HOME', join(folder, hostile));
    await outputOf('login', ...connection(server.url));
    expect((await outputOf('logout', '--json')).all).not.toMatch(obeyed);
    const { all } = await outputOf('init', join(folder, hostile));
    expect(all).toContain('hostile␛[2K');
    expect(all).not.toMatch(obeyed);
  });
});

test('writes to the terminal in one place only', async () => {
  const cli = join(repository, 'packages/millrace/src/cli');
  const files = (await readdir(cli, { recursive: true })).filter((name) => /(?<!\.test)\.ts$/.test(name));
  expect(files.length).toBeGreaterThan(50);
  const elsewhere: string[] = [];
  for (const name of files) {
    if (name === 'screen.ts') continue;
    const text = await readFile(join(cli, name), 'utf8');
    for (const line of text.split('\n')) {
      if (!/console\.|process\.std(?:out|err)|\bfd: [12]\b/.test(line)) continue;
      if (
        !/(?:screenOn|logLinesOn)\(.*process\.std|process\.std(?:out|err)\.(?:isTTY|on\('error')|drain|createInterface/.test(
          line,
        )
      ) {
        elsewhere.push(`${name}: ${line.trim()}`);
      }
    }
  }
  expect(elsewhere).toEqual([]);
});

describe('tasks with hostile texts', () => {
  const text = JSON.stringify(hostile);
  const tasks = `
import { task } from '@millrace/sdk';
console.log('out ' + ${text});
console.error('err ' + ${text});
export const bad = task({ id: ${text}, run: async () => { throw new Error(${text}); } });
export const good = task({ id: 'good', run: async () => ${text} });
`;

  test('control nothing through dev, work and start', { timeout: 120_000 }, async () => {
    const project = await temporaryProject({
      'tasks/bad.ts': tasks,
      'tasks/broken.ts': `throw new Error(${text});`,
    });
    const dev = await startDev(project.path);
    try {
      await dev.line(/problem .*hostile␛/);
      await dev.line(/out hostile␛/);
      const failed = await finished(['trigger', hostile, '--wait'], { cwd: project.path });
      expect(failed.exitCode).toBe(1);
      expect(failed.stdout).not.toMatch(obeyed);
      await dev.line(/failed .*hostile␛/);
      const { url, environments } = dev.ready;
      const server = ['--url', url, '--key', environments.stg.secretKey ?? ''];
      for (const command of ['deploy', 'work']) {
        const refused = await finished([command, ...server], { cwd: project.path });
        expect(refused).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('hostile␛[2K') });
        expect(refused.stdout + refused.stderr).not.toMatch(obeyed);
      }
      await rm(join(project.path, 'tasks/broken.ts'));
      const deployed = await finished(['deploy', '--no-promote', '--message', hostile, ...server], {
        cwd: project.path,
      });
      expect(deployed.exitCode).toBe(0);
      expect(deployed.stdout + deployed.stderr).not.toMatch(obeyed);
      const work = millrace(['work', ...server, '--json'], { cwd: project.path });
      await work.line(/"runner"/);
      work.kill('SIGTERM');
      await work.exitCode;
      for (const line of [...dev.stdout, ...dev.stderr, ...work.stdout, ...work.stderr])
        expect(line).not.toMatch(obeyed);
      expect([...work.stderr].join('\n')).toContain(String.raw`hostile\u001b`);
    } finally {
      dev.kill('SIGTERM');
      await dev.exitCode;
      await project.remove();
    }
  });
});
