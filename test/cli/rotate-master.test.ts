import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { finished, millrace, temporaryProject } from './command.ts';

interface Ready {
  readonly url: string;
  readonly projectRef: string;
  readonly environments: { readonly prod: { readonly secretKey: string } };
}

const many = Object.fromEntries(Array.from({ length: 700 }, (_, at) => [`N${at}`, `value ${at}`]));

describe('millrace keys rotate-master', () => {
  test(
    'gives an embedded PostgreSQL a new key while it serves, and continues after a kill',
    { timeout: 120_000 },
    async () => {
      const folder = await temporaryProject({});
      const cwd = folder.path;
      const serve = (env: Record<string, string> = {}) =>
        millrace(['start', '--data', 'data', '--port', '0', '--json', '--show-secrets'], { cwd, env });
      const keyFile = join(cwd, 'data', 'master.key');
      let server = serve();
      try {
        const first = JSON.parse(await server.line(/^\{"url"/)) as Ready;
        let { url } = first;
        const call = async (method: string, path: string, body?: unknown) => {
          const response = await fetch(`${url}/api/v1/projects/${first.projectRef}/${path}`, {
            method,
            headers: { authorization: `Bearer ${first.environments.prod.secretKey}` },
            ...(body !== undefined && { body: JSON.stringify(body) }),
          });
          return { status: response.status, body: (await response.json()) as { variables: object } };
        };
        expect((await call('POST', 'envvars/prod/import', { variables: many })).status).toBe(200);
        const before = await readFile(keyFile, 'utf8');

        let rotating = true;
        const seen: number[] = [];
        const working = (async () => {
          while (rotating) {
            const [read, written] = await Promise.all([
              call('GET', 'envvars'),
              call('POST', 'envvars/prod', { name: 'DURING', value: String(seen.length) }),
            ]);
            seen.push(read.status, written.status);
            expect(read.body.variables).toMatchObject(many);
          }
        })();
        expect(await finished(['keys', 'rotate-master', '--data', 'data', '--json'], { cwd })).toMatchObject({
          exitCode: 0,
          stdout: '{"changed":true}',
        });
        rotating = false;
        await working;
        expect(new Set(seen)).toEqual(new Set([200]));
        const after = await readFile(keyFile, 'utf8');
        expect(after).not.toBe(before);
        expect((await stat(keyFile)).mode & 0o077).toBe(0);

        // Killed in the middle: values sealed with either key are read at the next start, which completes the change.
        const asking = millrace(['keys', 'rotate-master', '--data', 'data'], { cwd });
        while (!existsSync(`${keyFile}.next`)) await setTimeout(5);
        // About when the first values are sealed with the new key. The exact moment does not matter: afterwards every value must exist.
        await setTimeout(1_150);
        server.kill('SIGKILL');
        asking.kill('SIGKILL');
        await Promise.all([server.exitCode, asking.exitCode]);
        server = serve();
        ({ url } = JSON.parse(await server.line(/^\{"url"/)) as Ready);
        expect((await call('GET', 'envvars')).body.variables).toMatchObject(many);
        await expect.poll(() => existsSync(`${keyFile}.next`), { timeout: 60_000 }).toBe(false);
        const last = await readFile(keyFile, 'utf8');
        expect(last).not.toBe(after);
        server.kill('SIGTERM');
        expect(await server.exitCode).toBe(0);

        // Nothing needs the earlier keys any longer.
        const refused = serve({ MILLRACE_MASTER_KEY: after.trim() });
        expect(await refused.exitCode).toBe(3);

        // The other form, with keys in the settings, while a server has both.
        const next = 'cd'.repeat(32);
        server = serve({ MILLRACE_MASTER_KEY: next, MILLRACE_MASTER_KEY_PREVIOUS: last.trim() });
        ({ url } = JSON.parse(await server.line(/^\{"url"/)) as Ready);
        const rotate = (env: Record<string, string> = {}) =>
          finished(['keys', 'rotate-master', '--data', 'data', '--json'], {
            cwd,
            env: { MILLRACE_MASTER_KEY: next, MILLRACE_MASTER_KEY_PREVIOUS: last.trim(), ...env },
          });
        const rotated = await rotate();
        expect(rotated).toMatchObject({ exitCode: 0, stderr: '' });
        expect((JSON.parse(rotated.stdout) as { resealed: number }).resealed).toBeGreaterThan(700);
        expect(JSON.parse((await rotate()).stdout)).toEqual({ resealed: 0 });
        expect((await call('GET', 'envvars')).body.variables).toMatchObject(many);
        server.kill('SIGTERM');
        await server.exitCode;

        // No server runs: the command does it alone.
        const alone = await temporaryProject({});
        const other = millrace(['start', '--data', 'data', '--port', '0', '--json'], { cwd: alone.path });
        await other.line(/^\{"url"/);
        other.kill('SIGTERM');
        await other.exitCode;
        const file = join(alone.path, 'data', 'master.key');
        const old = await readFile(file, 'utf8');
        expect(
          (await finished(['keys', 'rotate-master', '--data', 'data'], { cwd: alone.path })).exitCode,
        ).toBe(0);
        expect(await readFile(file, 'utf8')).not.toBe(old);
        await alone.remove();
      } finally {
        server.kill('SIGKILL');
        await server.exitCode;
        await folder.remove();
      }
    },
  );
});
