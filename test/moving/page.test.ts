/** A reader follows docs/moving.md with an existing project, and only the packages that `npm publish` uploads. */
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { millrace, repository } from '../cli/command.ts';
import { packAll, published, run, type Packed } from '../packages/packed.ts';
import { isLong } from '../support/long.ts';

/** A registry with our packed packages. It gets all others from npm's configured registry. */
async function registry({ tarballs }: Packed): Promise<string> {
  const { stdout } = await run('npm', ['config', 'get', 'registry'], { cwd: repository });
  const upstream = stdout.trim().replace(/\/$/, '');
  const files = new Map<string, Buffer>();
  const manifests = new Map<string, { name: string; version: string; dist: object }>();
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? '').slice(1);
    const tarball = files.get(path);
    const manifest = manifests.get(path);
    if (tarball) response.end(tarball);
    else if (manifest) {
      const { name, version } = manifest;
      response.setHeader('content-type', 'application/json');
      response.end(
        JSON.stringify({ name, 'dist-tags': { latest: version }, versions: { [version]: manifest } }),
      );
    } else response.writeHead(302, { location: `${upstream}${request.url}` }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  for (const folder of published) {
    const file = tarballs[folder];
    const content = await readFile(file);
    const text = await readFile(join(repository, 'packages', folder, 'package.json'), 'utf8');
    const manifest = JSON.parse(text) as { name: string; version: string };
    const integrity = `sha512-${createHash('sha512').update(content).digest('base64')}`;
    files.set(`tarballs/${basename(file)}`, content);
    manifests.set(manifest.name, {
      ...manifest,
      dist: { tarball: `${url}/tarballs/${basename(file)}`, integrity },
    });
  }
  return url;
}

/** A project for the published SDK, without any reference to Millrace. */
const project = {
  'package.json': JSON.stringify({
    name: 'greetings',
    private: true,
    type: 'module',
    dependencies: { '@trigger.dev/sdk': '^4.8.3' },
  }),
  'trigger.config.ts': `
import { defineConfig } from '@trigger.dev/sdk';
export default defineConfig({ project: 'proj_greetings', dirs: ['./src/trigger'], maxDuration: 60 });
`,
  'src/trigger/hello.ts': `
import { logger, task } from '@trigger.dev/sdk';
export const hello = task({
  id: 'hello',
  run: async ({ name }: { name: string }) => {
    logger.info('Greeting', { name });
    return { greeting: \`Hello, \${name}!\` };
  },
});
`,
  'your-app.js': `
import { runs, tasks } from '@trigger.dev/sdk';
const handle = await tasks.trigger('hello', { name: 'Grace' });
const run = await runs.poll(handle, { pollIntervalMs: 100 });
console.log(run.status, run.output.greeting);
`,
};

/** The commands in the first block of the page. */
async function commandsOfPage(): Promise<string[]> {
  const page = await readFile(join(repository, 'docs/moving.md'), 'utf8');
  return /```sh\n([^`]*)```/.exec(page)?.[1]?.trim().split('\n') ?? [];
}

// Tests of packages, published-tasks and site do the same in parts, and always.
test.runIf(isLong)(
  'the commands of docs/moving.md make an existing project run',
  async () => {
    const packed = await packAll();
    onTestFinished(() => packed.remove());
    const dir = join(packed.folder, 'greetings');
    for (const [file, text] of Object.entries(project)) {
      await mkdir(join(dir, file, '..'), { recursive: true });
      await writeFile(join(dir, file), text);
    }
    await writeFile(
      join(dir, '.npmrc'),
      `registry=${await registry(packed)}\nprefer-offline=true\naudit=false\nfund=false\n`,
    );
    const shell = (command: string): Promise<{ stdout: string }> =>
      promisify(execFile)('sh', ['-c', command], { cwd: dir });
    const [install = '', doctor = '', dev = '', trigger = '', app = '', ...more] = await commandsOfPage();
    expect(more).toEqual([]);

    await shell(install);
    expect(JSON.parse(await readFile(join(dir, 'package.json'), 'utf8'))).toMatchObject({
      devDependencies: { millrace: expect.stringMatching(/^\^\d/) as string },
    });
    expect((await shell(doctor)).stdout).toMatch(/^works +logger, task$/m);
    expect(dev).toBe('npx millrace dev');
    // Its port may be in use on this machine, and it prints its keys only to a terminal.
    const bin = join(dir, 'node_modules/millrace/bin/millrace.js');
    const running = millrace(['dev', '--json', '--port', '0'], { cwd: dir, bin });
    onTestFinished(async () => {
      running.kill('SIGTERM');
      expect(await running.exitCode).toBe(0);
    });
    const { url, environments } = JSON.parse(await running.line(/^\{"url"/)) as {
      url: string;
      environments: { dev: { secretKey: string } };
    };
    expect((await shell(trigger)).stdout).toContain('Hello, Ada!');
    const filledIn = app
      .replace('http://127.0.0.1:4400', url)
      .replace('svc_dev_sk_…', environments.dev.secretKey);
    expect(filledIn).toMatch(/ node your-app\.js$/);
    expect((await shell(filledIn)).stdout).toBe('COMPLETED Hello, Grace!\n');
  },
  360_000,
);
