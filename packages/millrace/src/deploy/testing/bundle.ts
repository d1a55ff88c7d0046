import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { unpackTar } from 'modern-tar';
import { onTestFinished } from 'vitest';
import { indexTasks } from '../../bundle/index-tasks.ts';
import { loadProject } from '../../project/load.ts';
import type { TestProject } from '../../../../runner/src/runner/testing/project.ts';
import { prepare, type DeployedTo, type Prepared, type PrepareOptions } from '../prepare.ts';

export const emptyEnv = { inherited: { PATH: process.env['PATH'] ?? '' }, added: {} };

/** Prepares a project for an environment without variables. */
export const prepared = async (
  { dir }: Pick<TestProject, 'dir'>,
  { secrets = [], ...options }: Partial<PrepareOptions & DeployedTo> = {},
): Promise<Prepared> =>
  prepare(await loadProject(dir), {
    environment: async () => ({ env: emptyEnv, secrets }),
    ...options,
  });

export async function contentOf({ blobs }: Prepared, blob: string): Promise<Buffer> {
  const found = blobs.get(blob);
  if (!found) throw new Error('no such blob');
  return gunzipSync(await buffer(Readable.fromWeb(found.read(0) as Parameters<typeof Readable.fromWeb>[0])));
}

/** Writes a bundle and its first layer to a folder with nothing else, like a runner. */
async function unpacked(from: Prepared): Promise<string> {
  const dir = await realpath(await mkdtemp(join(tmpdir(), 'millrace-unpacked-')));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  const write = async (path: string, content: Uint8Array): Promise<void> => {
    await mkdir(dirname(join(dir, path)), { recursive: true });
    await writeFile(join(dir, path), content);
  };
  for (const { path, blob } of from.bundle.files) await write(path, await contentOf(from, blob));
  const [layer] = from.layers;
  if (layer)
    for (const { header, data } of await unpackTar(await contentOf(from, layer.blob)))
      if (data) await write(header.name, data);
  return dir;
}

/** Imports an unpacked bundle in a separate process; returns the ids of its tasks, and the problems. */
export async function imported(from: Prepared) {
  const dir = await unpacked(from);
  const { entries, sdk } = from.bundle;
  const { tasks, problems } = await indexTasks(
    { hash: '', dir, entries, inputs: [], problems: [] },
    { projectDir: dir, sdk: join(dir, sdk), env: emptyEnv, defaults: {} },
  );
  return { ids: tasks.map(({ manifest: { id } }) => id), problems, dir };
}

export const packageJson = (name: string, more: object = {}): string =>
  JSON.stringify({ name, version: '1.0.0', ...more });
