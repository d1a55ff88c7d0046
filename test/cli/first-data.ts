/** Data folders after a first start, created once per run: initdb, migrations and the first keys are half of the cost of a start. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createdOnce } from '../support/created-once.ts';
import { millrace, repository, type Ready } from './command.ts';

// `fs.cp` does not preserve the owner, who is another user where root runs the tests.
const copy = (from: string, to: string) => promisify(execFile)('cp', ['-a', from, to]);

/** The data of `millrace dev` for a project without data. */
export async function giveDevData(project: string): Promise<void> {
  if (existsSync(join(project, '.millrace'))) return;
  const prepared = await createdOnce('dev-data', async (half) => {
    await mkdir(join(half, 'tasks'));
    // Its import takes too long, so no version is registered.
    await writeFile(join(half, 'tasks/a.ts'), 'await new Promise((done) => setTimeout(done, 60_000));');
    await symlink(join(repository, 'test/modules/node_modules'), join(half, 'node_modules'));
    const dev = millrace(['dev', '--port', '0'], { cwd: half });
    await dev.line(/^Millrace .* at http/);
    dev.kill('SIGTERM');
    await dev.exitCode;
  });
  await mkdir(join(project, '.millrace'));
  await copy(join(prepared, '.millrace/data'), join(project, '.millrace/data'));
}

/** The data of `millrace start --data`, in a folder that does not exist yet, with the output of its first start. */
export async function giveServerData(folder: string): Promise<Ready> {
  const prepared = await createdOnce('server-data', async (half) => {
    const server = millrace(['start', '--data', 'data', '--port', '0', '--json', '--show-secrets'], {
      cwd: half,
    });
    await writeFile(join(half, 'ready.json'), await server.line(/^\{"url"/));
    server.kill('SIGTERM');
    await server.exitCode;
  });
  await copy(join(prepared, 'data'), folder);
  return JSON.parse(await readFile(join(prepared, 'ready.json'), 'utf8')) as Ready;
}
