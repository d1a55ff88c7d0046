import { describe, expect, test } from 'vitest';
import { millrace, temporaryProject } from './command.ts';
import { finished } from './in-process.ts';
import { promote } from '../support/promote.ts';

describe('millrace start', () => {
  test('shows secrets at the first start only, and rejects another master key without losing data', async () => {
    const folder = await temporaryProject({});
    const key = 'ab'.repeat(32);
    const serve = (masterKey: string, settings: Readonly<Record<string, string>> = {}) =>
      millrace(['start', '--data', 'data', '--port', '0', '--json', '--show-secrets'], {
        cwd: folder.path,
        env: { MILLRACE_MASTER_KEY: masterKey, ...settings },
      });
    try {
      const first = serve(key);
      const { environments } = JSON.parse(await first.line(/^\{"url"/)) as {
        environments: { prod: { secretKey: string } };
      };
      expect(environments.prod.secretKey).toMatch(/^svc_prod_sk_/);
      first.kill('SIGTERM');
      expect(await first.exitCode).toBe(0);
      for (const line of first.stderr) expect(JSON.parse(line)).toMatchObject({ event: expect.any(String) });
      expect(first.stderr.join('\n')).not.toContain(environments.prod.secretKey);

      const wrong = serve('cd'.repeat(32));
      expect(await wrong.exitCode).toBe(3);
      expect(wrong.stdout).toEqual([]);
      expect(wrong.stderr.at(-1)).toMatch(/^millrace: This is not the master key of this database/);

      const later = serve(key, { MILLRACE_KEY_RATE: '750/25' });
      const again = JSON.parse(await later.line(/^\{"url"/)) as { url: string };
      expect(Object.keys(again)).toEqual(['url']);
      const listed = await finished(
        ['errors', 'list', '--json', '--url', again.url, '--key', environments.prod.secretKey],
        { cwd: folder.path },
      );
      expect(listed).toEqual({ exitCode: 0, stdout: '', stderr: '' });
      const headers = { authorization: `Bearer ${environments.prod.secretKey}` };
      const limited = await fetch(`${again.url}/api/v1/errors`, { headers });
      expect([limited.status, limited.headers.get('x-ratelimit-limit')]).toEqual([200, '750']);
      later.kill('SIGTERM');
      expect(await later.exitCode).toBe(0);
    } finally {
      await folder.remove();
    }
  }, 60_000);
});

describe('millrace start and millrace work', () => {
  test('run tasks in separate processes, and a stopped runner finishes its runs', async () => {
    const project = await temporaryProject({
      'tasks/slow.ts': `import { task } from '@millrace/sdk';
export const slow = task({ id: 'slow', run: async () => { await new Promise((done) => setTimeout(done, 1_500)); return 'done'; } });`,
    });
    const server = millrace(['start', '--data', 'data', '--port', '0', '--json', '--show-secrets'], {
      cwd: project.path,
    });
    try {
      const { url, environments } = JSON.parse(await server.line(/^\{"url"/)) as {
        url: string;
        environments: { prod: { secretKey: string } };
      };
      const env = { MILLRACE_API_URL: url, MILLRACE_SECRET_KEY: environments.prod.secretKey };
      const json = async (...args: string[]) =>
        JSON.parse((await finished([...args, '--json'], { cwd: project.path, env })).stdout) as Record<
          string,
          unknown
        >;
      const runner = millrace(['work', '--env', 'prod', '--json'], { cwd: project.path, env });
      const ready = JSON.parse(await runner.line(/^\{"runner"/)) as unknown;
      expect(ready).toMatchObject({ version: expect.stringMatching(/^\d{8}\.1$/) });

      await promote(url, environments.prod.secretKey);

      const { id } = (await json('trigger', 'slow')) as { id: string };
      await expect.poll(() => json('runs', 'show', id)).toMatchObject({ status: 'EXECUTING' });
      runner.kill('SIGTERM');
      expect(await runner.exitCode).toBe(0);
      expect(await json('runs', 'show', id)).toMatchObject({
        status: 'COMPLETED',
        output: 'done',
        attemptCount: 1,
      });
    } finally {
      server.kill('SIGTERM');
      await server.exitCode;
      await project.remove();
    }
  }, 60_000);
});
