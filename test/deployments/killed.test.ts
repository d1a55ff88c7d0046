/** Servers that are killed while a client deploys, at every step. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import {
  bundleOf,
  sha256,
  type TestBundle,
} from '../../packages/server/src/versions/deployments/testing/bundle.ts';
import { call, deploy } from './client.ts';
import { killableServers } from '../support/server-process/killable.ts';
import type { ServerProcess } from '../support/server-process/start.ts';

test('a client that retries completes each deployment, whenever the server is killed', async () => {
  const { sql, start } = await killableServers();
  let server: ServerProcess | undefined;
  server = await start();

  const bundles = Array.from({ length: 2 }, (_, n) =>
    bundleOf({ 'n.js': String(n), 'large.bin': randomBytes(6_000_000) }),
  );
  const attempt = async (bundle: TestBundle): Promise<string> => {
    const { url, secretKey: key } = server as ServerProcess;
    const { version } = await deploy({ url, key }, bundle);
    await call({ url, key }, `POST /api/v1/deployments/${version}/promote?force=true`);
    return version;
  };
  let kills = 0;
  const versions: string[] = [];
  for (const bundle of bundles) {
    for (let tries = 0; ; tries++) {
      const doing = attempt(bundle).catch((error: unknown) => {
        // The connection ended, or the error is one that a retry does not get.
        if (error instanceof Error && /^4\d\d/.test(error.message)) throw error;
        return undefined;
      });
      // Each attempt lives a little longer, so that one dies in every step.
      const life = new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), 10 + tries * 80));
      const isDone = tries >= 5 ? await doing : await Promise.race([doing, life]);
      if (isDone !== undefined) {
        versions.push(isDone);
        break;
      }
      server.process.kill('SIGKILL');
      kills += 1;
      await once(server.process, 'exit');
      await doing;
      server = await start();
    }
  }
  expect(kills).toBeGreaterThanOrEqual(bundles.length);
  const to = { url: server.url, key: server.secretKey };
  expect(new Set(versions).size).toBe(bundles.length);
  expect(await call(to, 'GET /api/v1/deployments/current')).toMatchObject({ version: versions.at(-1) });
  for (const [index, version] of versions.entries()) {
    for (const [blob, data] of bundles[index]!.blobs) {
      const response = await fetch(`${to.url}/runner/v1/versions/${version}/blobs/${blob}`, {
        headers: { authorization: `Bearer ${to.key}` },
      });
      expect(sha256(Buffer.from(await response.arrayBuffer()))).toBe(sha256(data));
    }
  }
  // Each content was deployed once, and each promotion recorded once.
  expect(await sql`select from versions`).toHaveLength(bundles.length);
  expect(await sql`select from audit_log where act = 'version.uploaded'`).toHaveLength(bundles.length);
  expect(await sql`select from audit_log where act = 'version.promoted'`).toHaveLength(bundles.length);
}, 120_000);
