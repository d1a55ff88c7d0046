/** A newcomer follows a page of the documentation: its code and its commands, in a project with a running `millrace dev`. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { configure } from '@millrace/sdk';
import { afterAll, beforeAll } from 'vitest';
import {
  repository,
  shell,
  startDev,
  temporaryProject,
  type Folder,
  type Ready,
  type Running,
} from './command.ts';
import { finished } from './in-process.ts';

/** The fenced blocks of a page in docs/, in their order. */
export async function blocksOf(name: string): Promise<(language: string) => string[]> {
  const page = await readFile(join(repository, 'docs', name), 'utf8');
  return (language) =>
    [...page.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(
      ([, code = '']) => code,
    );
}

/** Starts `millrace dev` in a project with these files for the tests of a file and passes its address and key to the SDK. */
export function besideDev(files: Readonly<Record<string, string>>) {
  let project: Folder;
  let dev: Running & { ready: Ready };
  beforeAll(async () => {
    project = await temporaryProject(files);
    dev = await startDev(project.path);
    configure({ baseURL: dev.ready.url, accessToken: dev.ready.environments.dev.secretKey });
  }, 60_000);
  afterAll(async () => {
    dev?.kill('SIGTERM');
    await dev?.exitCode;
    await project?.remove();
  });
  return {
    ready: () => dev.ready,
    /** Runs `millrace` with these arguments to its end. */
    cli: (...args: string[]) => finished(args, { cwd: project.path }),
    /** The output of commands on the page. Throws if one of them fails. */
    printed: (script: string) => shell(script, project.path),
  };
}
