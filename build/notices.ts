import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Metafile } from 'esbuild';

/** Writes `dist/THIRD-PARTY-NOTICES.txt`: the license text of each package whose code is in the bundle. */
export async function writeNotices(root: string, packageFolder: string, metafile: Metafile): Promise<void> {
  const file = join(packageFolder, 'dist', 'THIRD-PARTY-NOTICES.txt');
  const folders = bundledFolders(metafile);
  if (folders.length === 0) return rm(file, { force: true });
  const notices = await Promise.all(folders.map((folder) => notice(join(root, folder))));
  await writeFile(file, notices.join(`\n${'-'.repeat(80)}\n\n`));
}

/** Such as `node_modules/fastify`, sorted. */
function bundledFolders({ outputs }: Metafile): string[] {
  const inputs = Object.values(outputs).flatMap((output) => Object.keys(output.inputs));
  const folders = inputs.flatMap((input) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0] ?? []);
  return [...new Set(folders)].toSorted();
}

async function notice(folder: string): Promise<string> {
  const { name, version, license } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as {
    name: string;
    version: string;
    license: string;
  };
  const names = (await readdir(folder)).filter((file) => /^(?:licen[cs]e|copying|notice)/i.test(file));
  const texts = await Promise.all(names.toSorted().map((file) => readFile(join(folder, file), 'utf8')));
  const heading = `${name} ${version} (${license})`;
  return `${[heading, ...texts.map((text) => text.trim())].join('\n\n')}\n`;
}
