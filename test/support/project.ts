import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { startRunner } from '../../packages/millrace/src/serve-folder/start.ts';
import type { TestServer } from './server.ts';
import { promote } from './promote.ts';

const modules = fileURLToPath(new URL('../modules/node_modules', import.meta.url));
const sdk = fileURLToPath(new URL('../../packages/sdk', import.meta.url));

/**
 * Starts a real runner with real executor processes that serves these files in prod until `onEnd`, by default the end of the test.
 * Resolves with its folder when it is ready.
 */
export async function startProject(
  server: Pick<TestServer, 'url'> & { readonly keys: { readonly prod: string } },
  files: Readonly<Record<string, string>>,
  /** Packages of this workspace to link into the project. */
  packages: readonly string[] = [],
  onEnd: (end: () => Promise<void>) => void = onTestFinished,
): Promise<string> {
  const dir = await realpath(await mkdtemp(join(tmpdir(), 'millrace-project-')));
  await mkdir(join(dir, 'node_modules', '@millrace'), { recursive: true });
  await symlink(sdk, join(dir, 'node_modules', '@millrace', 'sdk'));
  for (const name of packages) {
    const link = join(dir, 'node_modules', name);
    await mkdir(dirname(link), { recursive: true });
    await symlink(join(modules, name), link);
  }
  for (const [file, text] of Object.entries(files)) {
    await mkdir(dirname(join(dir, file)), { recursive: true });
    await writeFile(join(dir, file), text);
  }
  const runner = await startRunner({
    url: server.url,
    secretKey: server.keys.prod,
    projectDir: dir,
    watch: false,
    isStrict: true,
  });
  await promote(server.url, server.keys.prod, runner.version ?? undefined);
  onEnd(async () => {
    await runner.stop({ waitMs: 0 });
    await rm(dir, { recursive: true, force: true });
  });
  return dir;
}
