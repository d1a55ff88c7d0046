import { readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { explainFolder, makeFolder, renameOver } from '@millrace/platform';
import { dependsOnPublished } from '@millrace/compat';
import { firstProject, packageName, parts, publishedParts, readme } from '@millrace/template';
import { commandFor, completeManifest, withParts, type CompletedManifest } from './complete-manifest.ts';

export interface WrittenProject {
  readonly folder: string;
  readonly written: readonly string[];
  /** Existing files, which are not changed. */
  readonly unchanged: readonly string[];
  /** Names of the members added to an existing package.json, by section. */
  readonly added: CompletedManifest['added'];
}

/**
 * Writes a first project into a folder, which is created if necessary. Existing files are never changed, except that a package.json gets
 * the scripts and packages that it lacks.
 */
export async function writeProject(folder: string, version: string): Promise<WrittenProject> {
  const target = resolve(folder);
  const manifest = join(target, 'package.json');
  if ((await exists(manifest)) && (await isPublished(target)))
    return completePublished(target, manifest, version);
  const name = packageName(basename(target));
  const compiler = (await exists(join(target, 'tsconfig.json'))) ? 'tsc --noEmit' : 'tsc';
  const found = (await exists(manifest)) ? await readFile(manifest, 'utf8') : undefined;
  // Throws for an invalid package.json before anything is written.
  const completed = found === undefined ? undefined : completeManifest(found, version, compiler);

  const written: string[] = [];
  const unchanged: string[] = [];
  const write = async (path: string, text: string): Promise<void> => {
    await makeFolder(dirname(join(target, path)));
    // `wx` creates the file atomically and fails if it exists.
    const isNew = await writeFile(join(target, path), text, { flag: 'wx' }).then(
      () => true,
      (error: NodeJS.ErrnoException) => {
        if (error.code === 'EEXIST') return false;
        throw explainFolder(error, target);
      },
    );
    (isNew ? written : unchanged).push(path);
  };

  const files = firstProject(name, version);
  for (const [path, text] of Object.entries(files)) {
    if (path !== 'package.json' || completed === undefined) await write(path, text);
    else if (completed.text === found) unchanged.push(path);
    else await replace(manifest, completed.text);
  }
  const text = completed?.text ?? files['package.json'] ?? '';
  const { scripts } = parts(version);
  const commands = {
    dev: commandFor(text, 'dev', scripts.dev),
    deploy: commandFor(text, 'deploy', scripts.deploy),
    types: commandFor(text, 'types', compiler),
    exec: 'npx',
    ignoresEnv: written.includes('.gitignore'),
  };
  await write('README.md', readme(name, commands));
  return { folder: target, written, unchanged, added: completed?.added ?? {} };
}

/** Whether a project's tasks are written for the published SDK. */
const isPublished = async (target: string): Promise<boolean> =>
  dependsOnPublished(target) || (await exists(join(target, 'trigger.config.ts')));

/** Such a project keeps its files, and the command is added. */
async function completePublished(target: string, manifest: string, version: string): Promise<WrittenProject> {
  const found = await readFile(manifest, 'utf8');
  const { text, added } = withParts(found, publishedParts(version));
  if (text !== found) await replace(manifest, text);
  return { folder: target, written: [], unchanged: [], added };
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

/** Replaces a file atomically; it keeps its mode, and a link keeps its target. */
async function replace(path: string, text: string): Promise<void> {
  const file = await realpath(path);
  const draft = `${file}.${process.pid}`;
  const { mode } = await stat(file);
  try {
    await writeFile(draft, text, { flag: 'wx', mode });
    await renameOver(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw explainFolder(error, dirname(path));
  }
}
