import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import {
  chmod,
  chown,
  mkdir,
  mkdtemp,
  realpath,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { findServer } from './connection.ts';
import { findLogin } from './login.ts';
import { processStart } from '../../../platform/src/process-start.ts';
import { ownDev } from './running-dev.ts';

const running = { url: 'http://127.0.0.1:4400', key: 'svc_dev_sk_0', token: 'svc_pat_0' };

describe('the server of a command', () => {
  let dir: string;
  beforeEach(async () => {
    dir = await realpath(await mkdtemp(join(tmpdir(), 'millrace-connection-')));
  });
  afterEach(() => rm(dir, { recursive: true, force: true }));

  const remembered = async () => {
    const owned = await ownDev(dir);
    await owned.remember(running);
    return owned;
  };

  test('is the specified one, even next to a running dev', async () => {
    await remembered();
    const named = { url: 'https://millrace.example.com', key: 'svc_prod_sk_1' };
    expect(await findServer({ dir, ...named })).toEqual(named);
    const login = { url: named.url, token: 'svc_pat_1' };
    expect(await findLogin({ dir, ...login })).toEqual(login);
    expect(await findLogin({ dir, url: named.url, key: login.token })).toEqual(login);
    await expect(findLogin({ dir, ...login, key: 'svc_pat_2' })).rejects.toThrow(/--token .* and --key/);
  });

  test('is otherwise the running dev of the folder or a parent folder, for commands with a key or a login', async () => {
    const owned = await remembered();
    const below = join(dir, 'tasks', 'deep');
    await mkdir(below, { recursive: true });
    for (const folder of [dir, below]) {
      expect(await findServer({ dir: folder })).toMatchObject({ url: running.url, key: running.key });
      expect(await findServer({ dir: folder, url: running.url })).toMatchObject({ key: running.key });
      expect(await findLogin({ dir: folder })).toEqual({ url: running.url, token: running.token });
    }
    await owned.release();
    await expect(findServer({ dir: below })).rejects.toThrow(/start `millrace dev`/);
    await expect(findLogin({ dir: below })).rejects.toThrow(/millrace login.*millrace dev/);
  });

  test('never receives the key of another server', async () => {
    await remembered();
    const url = 'https://elsewhere.example.com';
    await expect(findServer({ dir, url })).rejects.toThrow(/MILLRACE_SECRET_KEY/);
    await expect(findServer({ dir, key: 'svc_prod_sk_1' })).rejects.toThrow(/MILLRACE_API_URL/);
    await expect(findLogin({ dir, url })).rejects.toThrow(/MILLRACE_ACCESS_TOKEN/);
    await expect(findLogin({ dir, key: 'svc_pat_1' })).rejects.toThrow(/MILLRACE_API_URL/);
  });

  test('is not a dev whose process was killed', async () => {
    const owned = await remembered();
    const file = join(dir, '.millrace', 'dev.json');
    const gone = spawn('true');
    await new Promise((resolve) => gone.once('exit', resolve));
    const { pid } = gone;
    await writeFile(file, JSON.stringify({ ...running, pid, birth: null }));
    await expect(findServer({ dir })).rejects.toThrow(/No server/);
    // Another process has its id now.
    await writeFile(file, JSON.stringify({ ...running, pid: process.pid, birth: 'another boot/1' }));
    await expect(findServer({ dir })).rejects.toThrow(/No server/);
    await owned.release();
  });

  test.runIf(process.getuid?.() === 0)(
    'is not taken from a file of another user of the machine',
    async () => {
      const owned = await remembered();
      const below = join(dir, 'deep');
      await mkdir(below);
      expect(await findServer({ dir: below })).toMatchObject({ key: running.key });
      await chown(join(dir, '.millrace', 'dev.json'), 65_534, 65_534);
      await expect(findServer({ dir: below })).rejects.toThrow(/No server/);
      await owned.release();
    },
  );

  describe('is taken only from a file of a dev of this user', () => {
    const own = () => join(dir, '.millrace', 'dev.json');
    const mine = () => ({ ...running, pid: process.pid, birth: processStart(process.pid) });
    /** Like a file in a repository: it belongs to the user. */
    const planted = async (content: unknown, mode = 0o600) => {
      await mkdir(join(dir, '.millrace'), { recursive: true });
      await rm(own(), { force: true });
      await writeFile(own(), typeof content === 'string' ? content : JSON.stringify(content), { mode });
      await chmod(own(), mode);
    };
    const refused = async () => {
      await expect(findServer({ dir })).rejects.toThrow(/No server/);
      await expect(findLogin({ dir })).rejects.toThrow(/Not logged in/);
    };

    test('is not taken from a file of a repository, which lacks the start time of the process', async () => {
      for (const pid of [1, process.pid, process.ppid]) {
        for (const birth of [null, undefined, '', 'another boot/1']) {
          await planted({ ...running, pid, birth });
          await refused();
        }
      }
      for (const pid of [0, -1, 1.5, '1', `${process.pid}`, 'self', null]) {
        await planted({ ...mine(), pid });
        await refused();
      }
      for (const content of ['', 'null', '[]', '1', '{', { ...mine(), url: 7 }, { ...mine(), key: null }]) {
        await planted(content);
        await refused();
      }
      // Control: with the start time of a running process, the file is trusted.
      await planted(mine());
      expect(await findServer({ dir })).toMatchObject({ key: running.key });
    });

    test('is not taken from a file that others can read or write', async () => {
      for (const mode of [0o666, 0o620, 0o602, 0o644]) {
        await planted(mine(), mode);
        await refused();
      }
    });

    test('is not taken through a symbolic link of the file or the folder', async () => {
      await planted(mine());
      await rename(own(), join(dir, 'elsewhere.json'));
      await symlink(join(dir, 'elsewhere.json'), own());
      await refused();
      await planted(mine());
      await rename(join(dir, '.millrace'), join(dir, 'elsewhere'));
      await symlink(join(dir, 'elsewhere'), join(dir, '.millrace'));
      await refused();
    });

    test('is not on another machine', async () => {
      for (const url of [
        'https://elsewhere.example.com',
        'http://127.0.0.1.example.com',
        'http://127.0.0.1@example.com',
        'x',
      ]) {
        await planted({ ...mine(), url });
        await refused();
      }
    });

    test.runIf(process.getuid?.() === 0)(
      'is not taken from a folder or a process of another user',
      async () => {
        await planted(mine());
        await chown(join(dir, '.millrace'), 65_534, 65_534);
        await refused();
        await chown(join(dir, '.millrace'), 0, 0);
        const other = spawn('sleep', ['60'], { uid: 65_534, gid: 65_534, cwd: '/' });
        const ended = new Promise((resolve) => other.once('exit', resolve));
        const pid = other.pid ?? 0;
        expect(processStart(pid)).not.toBeNull();
        await planted({ ...running, pid, birth: processStart(pid) });
        await refused();
        other.kill();
        await ended;
      },
    );
  });

  test('hides the key from other users of the machine', async () => {
    await remembered();
    expect((await stat(join(dir, '.millrace', 'dev.json'))).mode & 0o077).toBe(0);
  });

  test('one dev owns a folder: a second one fails with the process ID of the first', async () => {
    const owned = await ownDev(dir);
    await expect(ownDev(dir)).rejects.toThrow(
      `\`millrace dev\` is already running in ${dir}: process ${process.pid}, which is still starting.`,
    );
    await owned.remember(running);
    await expect(ownDev(dir)).rejects.toThrow(
      `process ${process.pid} at http://127.0.0.1:4400. Stop it first`,
    );
    expect(await findServer({ dir })).toMatchObject({ key: running.key });
    await owned.release();
    expect(existsSync(join(dir, '.millrace', 'dev.json'))).toBe(false);
    const next = await ownDev(dir);
    await next.release();
  });
});
