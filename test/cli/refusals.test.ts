import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { finished as finishedProcess, temporaryProject, type Folder } from './command.ts';
import { finished } from './in-process.ts';

/** One Millrace sentence, no stack. */
const sentence = /^millrace: [^\n]+$/;

describe('a failed start prints one sentence', () => {
  let empty: Folder;
  beforeAll(async () => {
    empty = await temporaryProject({});
  });
  afterAll(() => empty.remove());

  test('a folder without tasks', async () => {
    const { exitCode, stdout, stderr } = await finished(['dev', '--json', '--port', '0'], {
      cwd: empty.path,
    });
    expect({ exitCode, stdout }).toEqual({ exitCode: 3, stdout: '' });
    expect(stderr).toMatch(sentence);
    expect(stderr).toContain('tasks');
  });

  test('a project that cannot be written to', async () => {
    const project = await temporaryProject({ 'tasks/a.ts': '', '.millrace': 'a file' });
    try {
      const { exitCode, stderr } = await finished(['dev', '--port', '0'], { cwd: project.path });
      expect(exitCode).toBe(3);
      expect(stderr).toMatch(sentence);
      expect(stderr).toContain('.millrace is a file, not a folder');
    } finally {
      await project.remove();
    }
  });

  test('an invalid folder for init', async () => {
    const project = await temporaryProject({ 'package.json': '{}' });
    try {
      for (const path of ['package.json', 'package.json/a', '/proc/nope']) {
        const { exitCode, stdout, stderr } = await finished(['init', path], { cwd: project.path });
        expect({ path, exitCode, stdout }).toEqual({ path, exitCode: 3, stdout: '' });
        expect(stderr).toMatch(sentence);
        expect(stderr).toMatch(/^millrace: .*(is a file, not a folder|cannot be created)/);
      }
    } finally {
      await project.remove();
    }
  });

  test('an unknown command, with a suggestion only if one is near', async () => {
    const bogus = await finished(['bogus'], { cwd: empty.path });
    expect(bogus).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("unknown command 'bogus'") });
    expect(bogus.stderr).not.toContain('Did you mean');
    expect((await finished(['triger'], { cwd: empty.path })).stderr).toContain('Did you mean trigger?');
    expect((await finished(['runs', 'list', '--jsno'], { cwd: empty.path })).stderr).toContain(
      'Did you mean --json?',
    );
  });

  test('a missing folder', async () => {
    const { exitCode, stderr } = await finished(['dev', '--dir', 'nowhere'], { cwd: empty.path });
    expect(exitCode).toBe(3);
    expect(stderr).toMatch(/nowhere.*does not exist/);
  });

  test('a configuration that throws, with file and line', async () => {
    const broken = await temporaryProject({
      'tasks/a.ts': '',
      'millrace.config.ts': `import { defineConfig } from 'millrace';\n\nthrow new Error('no way');\nexport default defineConfig({});\n`,
    });
    try {
      // A separate process, because Vitest changes stacks.
      const { exitCode, stderr } = await finishedProcess(['dev', '--port', '0'], { cwd: broken.path });
      expect(exitCode).toBe(3);
      expect(stderr).toMatch(sentence);
      expect(stderr).toMatch(/millrace\.config\.ts:3.*no way/);
    } finally {
      await broken.remove();
    }
  });

  test('an unreachable database, without its password', async () => {
    const { exitCode, stdout, stderr } = await finished(['start', '--port', '0'], {
      cwd: empty.path,
      env: { DATABASE_URL: 'postgresql://me:hunter2@127.0.0.1:1/none', MILLRACE_MASTER_KEY: '0'.repeat(64) },
    });
    expect({ exitCode, stdout }).toEqual({ exitCode: 3, stdout: '' });
    expect(stderr).toMatch(sentence);
    expect(stderr).toContain('127.0.0.1:1');
    expect(stderr).not.toContain('hunter2');
  });

  test.each([
    ['MILLRACE_KEY_RATE', '750'],
    ['MILLRACE_MAX_QUEUE_SECONDS', '2s'],
    ['MILLRACE_TRUSTED_PROXIES', '10.0.0.0/8,balancer'],
    ['MILLRACE_TRUSTED_PROXIES', '10.0.0.0/33'],
  ])('an invalid setting: %s=%s', async (variable, value) => {
    const { exitCode, stderr } = await finished(['start', '--port', '0'], {
      cwd: empty.path,
      env: {
        DATABASE_URL: 'postgresql://me:hunter2@127.0.0.1:1/none',
        MILLRACE_MASTER_KEY: '0'.repeat(64),
        [variable]: value,
      },
    });
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(sentence);
    expect(stderr).toContain(variable);
  });

  test('an invalid DATABASE_URL, without showing it', async () => {
    const { exitCode, stderr } = await finished(['start', '--port', '0'], {
      cwd: empty.path,
      env: { DATABASE_URL: 'me:hunter2', MILLRACE_MASTER_KEY: '0'.repeat(64) },
    });
    expect(exitCode).toBe(3);
    expect(stderr).toMatch(/DATABASE_URL.*postgresql:\/\//);
    expect(stderr).not.toContain('hunter2');
  });

  test('a missing or invalid master key', async () => {
    const env = { DATABASE_URL: 'postgresql://127.0.0.1:1/none' };
    const none = await finished(['start'], { cwd: empty.path, env });
    expect(none.exitCode).toBe(3);
    expect(none.stderr).toMatch(/MILLRACE_MASTER_KEY is not set.*openssl/);
    const short = await finished(['start'], {
      cwd: empty.path,
      env: { ...env, MILLRACE_MASTER_KEY: 'secretish' },
    });
    expect(short.exitCode).toBe(3);
    expect(short.stderr).not.toContain('secretish');
  });

  test('neither a database nor a data folder', async () => {
    const { exitCode, stderr } = await finished(['start'], {
      cwd: empty.path,
      env: { MILLRACE_MASTER_KEY: '0'.repeat(64) },
    });
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/DATABASE_URL.*--data/);
  });

  test('a key of another environment', async () => {
    const { exitCode, stderr } = await finished(
      ['work', '--env', 'prod', '--url', 'http://127.0.0.1:1', '--key', 'svc_dev_sk_x'],
      {
        cwd: empty.path,
      },
    );
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/belongs to dev.*prod/);
  });

  test('an invalid command line', async () => {
    for (const args of [
      ['bogus'],
      ['dev', '--port', 'x'],
      ['trigger'],
      ['trigger', 'x', '--payload', '{a'],
      ['work', '--env', 'qa'],
    ]) {
      const { exitCode, stdout } = await finished(args, { cwd: empty.path });
      expect({ args, exitCode, stdout }).toEqual({ args, exitCode: 2, stdout: '' });
    }
  });

  test('a client command without a server', async () => {
    const nobody = await finished(['errors', 'list'], { cwd: empty.path });
    expect(nobody.exitCode).toBe(4);
    expect(nobody.stderr).toMatch(/millrace dev.*MILLRACE_API_URL/);
    const gone = await finished(['errors', 'list', '--url', 'http://127.0.0.1:1', '--key', 'svc_dev_sk_x'], {
      cwd: empty.path,
    });
    expect(gone.exitCode).toBe(4);
    expect(gone.stderr).toContain('127.0.0.1:1');
  });
});
