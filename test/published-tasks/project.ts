import { cp, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { versions, type Minor } from './versions.ts';

const modules = fileURLToPath(new URL('../modules/node_modules', import.meta.url));
const fixture = fileURLToPath(new URL('./fixture', import.meta.url));

/** Other packages that the fixture tasks import. */
const packages = ['zod', 'ai', '@opentelemetry/api'];

export interface PublishedProject {
  readonly dir: string;
  readonly write: (file: string, text: string) => Promise<void>;
  /** Adds a package of this repository to the project under another name. */
  readonly link: (name: string, installed?: string) => Promise<void>;
}

type OnEnd = (end: () => Promise<void>) => void;

/** A project with the published SDK of a minor version in its `node_modules`, and none of our packages. */
export async function publishedProject(
  minor: Minor,
  files: Readonly<Record<string, string>>,
  onEnd: OnEnd,
): Promise<PublishedProject> {
  const dir = await realpath(await mkdtemp(join(tmpdir(), 'millrace-moved-')));
  onEnd(() => rm(dir, { recursive: true, force: true, maxRetries: 5 }));
  const alias = versions.find(([name]) => name === minor)?.[1] ?? '';
  const link = async (name: string, target = name): Promise<void> => {
    await mkdir(dirname(join(dir, 'node_modules', name)), { recursive: true });
    await symlink(join(modules, target), join(dir, 'node_modules', name));
  };
  await link('@trigger.dev/sdk', alias);
  for (const name of packages) await link(name);
  const write = async (file: string, text: string): Promise<void> => {
    await mkdir(dirname(join(dir, file)), { recursive: true });
    await writeFile(join(dir, file), text);
  };
  await write(
    'package.json',
    JSON.stringify({ name: 'moved', type: 'module', dependencies: { '@trigger.dev/sdk': `^${minor}.0` } }),
  );
  for (const [file, text] of Object.entries(files)) await write(file, text);
  return { dir, write, link };
}

/** Such a project with the fixture tasks, except for files that import exports that a minor version lacks. */
export async function fixtureProject(
  minor: Minor,
  without: readonly string[],
  onEnd: OnEnd,
): Promise<PublishedProject> {
  const project = await publishedProject(minor, {}, onEnd);
  await cp(fixture, project.dir, {
    recursive: true,
    filter: (path) => !without.some((name) => path.endsWith(name)),
  });
  return project;
}
