import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const packages = fileURLToPath(new URL('../../../../', import.meta.url));

export interface TestProject {
  readonly dir: string;
  readonly write: (file: string, content: string) => Promise<void>;
  readonly remove: () => Promise<void>;
}

/** Creates a project on disk, with the SDK installed in it. */
export async function createProject(files: Readonly<Record<string, string>>): Promise<TestProject> {
  const dir = await realpath(await mkdtemp(join(tmpdir(), 'millrace-project-')));
  await mkdir(join(dir, 'node_modules', '@millrace'), { recursive: true });
  await symlink(join(packages, 'sdk'), join(dir, 'node_modules', '@millrace', 'sdk'));
  const write = async (file: string, content: string): Promise<void> => {
    await mkdir(dirname(join(dir, file)), { recursive: true });
    await writeFile(join(dir, file), content);
  };
  for (const [file, content] of Object.entries(files)) await write(file, content);
  return { dir, write, remove: () => rm(dir, { recursive: true, force: true }) };
}
