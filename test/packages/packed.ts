import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { repository } from '../cli/command.ts';

export const run = promisify(execFile);

/** The packages that are published, by folder. */
export const published = ['contract', 'fingerprint', 'sdk', 'server', 'millrace', 'testing'] as const;
export type Published = (typeof published)[number];

export interface Packed {
  readonly folder: string;
  readonly tarballs: Readonly<Record<Published, string>>;
  remove(): Promise<void>;
}

/** What `npm publish` would upload, in a folder far from the repository. */
export async function packAll(): Promise<Packed> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-packed-'));
  const workspaces = published.flatMap((name) => ['-w', `packages/${name}`]);
  await run('npm', ['pack', ...workspaces, '--pack-destination', folder, '--ignore-scripts'], {
    cwd: repository,
  });
  const files = (await readdir(folder)).filter((name) => name.endsWith('.tgz'));
  const tarballs = Object.fromEntries(
    published.map((name) => {
      const start = name === 'millrace' ? /^millrace-\d/ : new RegExp(`^millrace-${name}-\\d`);
      const file = files.find((candidate) => start.test(candidate));
      if (file === undefined) throw new Error(`npm pack made no tarball of packages/${name}`);
      return [name, join(folder, file)];
    }),
  ) as Record<Published, string>;
  return {
    folder,
    tarballs,
    remove: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }),
  };
}
