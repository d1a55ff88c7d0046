/** A reader follows docs/moving.md with an existing project, and only the packages that `npm publish` uploads. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { millrace } from '../cli/command.ts';
import { packAll } from '../packages/packed.ts';
import { isLong } from '../support/long.ts';
import { commandsOfPage } from './commands.ts';
import { startRegistry } from './registry.ts';
import { writeFiles } from './write-files.ts';

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

// Tests of packages, published-tasks and site do the same in parts, and always.
test.runIf(isLong)(
  'the commands of docs/moving.md make an existing project run',
  async () => {
    const packed = await packAll();
    onTestFinished(() => packed.remove());
    const dir = join(packed.folder, 'greetings');
    const registry = await startRegistry(packed);
    await writeFiles(dir, {
      ...project,
      '.npmrc': `registry=${registry}\nprefer-offline=true\naudit=false\nfund=false\n`,
    });
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
