/**
 * A pnpm workspace with native code and a Stripe webhook, written for the published SDK, moves by the commands of docs/moving.md. It uses only
 * the packages that `npm publish` uploads. Its webhook is then delivered, replayed and rolled back in production.
 */
import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { signRequest } from '../../packages/server/src/events/webhooks/schemes/index.ts';
import { finished, inherited, millrace, startDev } from '../cli/command.ts';
import { packAll, run } from '../packages/packed.ts';
import { createdOnce } from '../support/created-once.ts';
import { isLong } from '../support/long.ts';
import { commandsOfPage } from './commands.ts';
import { startRegistry } from './registry.ts';
import { writeFiles } from './write-files.ts';

const stripeHandler = (version: string): string => `
import { webhook, webhooks } from '@trigger.dev/sdk';
const endpoint = webhooks.endpoint.define({ id: 'stripe', source: webhooks.stripe() });
export const stripe = webhook({
  id: 'stripe',
  endpoint,
  onEvent: async ({ event }) => ({ handledBy: '${version}', type: event.type }),
});
`;

/** The workspace, without any reference to Millrace. */
const workspace = (registry: string) => ({
  'package.json': JSON.stringify({ name: 'shop', private: true }),
  'pnpm-workspace.yaml': `
packages: ['packages/*']
# The packed packages have no time of publication.
minimumReleaseAge: 0
# esbuild and sharp also work without their scripts.
strictDepBuilds: false
`,
  '.npmrc': `registry=${registry}\n`,
  'packages/images/package.json': JSON.stringify({
    name: '@shop/images',
    version: '1.0.0',
    private: true,
    type: 'module',
    exports: './src/index.ts',
    dependencies: { sharp: '^0.35.5' },
  }),
  'packages/images/src/index.ts': `
import sharp from 'sharp';
export async function thumbnail(size: number): Promise<number> {
  const image = sharp({ create: { width: size, height: size, channels: 3, background: '#123456' } });
  return (await image.resize(16).png().toBuffer({ resolveWithObject: true })).info.width;
}
`,
  'packages/jobs/package.json': JSON.stringify({
    name: '@shop/jobs',
    private: true,
    type: 'module',
    dependencies: { '@shop/images': 'workspace:*', '@trigger.dev/sdk': '^4.8.3' },
  }),
  'packages/jobs/trigger.config.ts': `
import { defineConfig } from '@trigger.dev/sdk';
export default defineConfig({ project: 'proj_shop', dirs: ['./src/trigger'], maxDuration: 60 });
`,
  'packages/jobs/src/trigger/hello.ts': `
import { task } from '@trigger.dev/sdk';
export const hello = task({ id: 'hello', run: async ({ name }: { name: string }) => \`Hello, \${name}!\` });
`,
  'packages/jobs/src/trigger/stripe.ts': stripeHandler('first'),
  'packages/jobs/your-app.js': `
import { runs, tasks } from '@trigger.dev/sdk';
const handle = await tasks.trigger('thumbnail', { size: 64 });
const run = await runs.poll(handle, { pollIntervalMs: 100 });
console.log(run.status, run.output);
`,
});

const thumbnailTask = `
import { thumbnail as shrink } from '@shop/images';
import { task } from '@trigger.dev/sdk';
export const thumbnail = task({ id: 'thumbnail', run: async ({ size }: { size: number }) => shrink(size) });
`;

interface Deployed {
  readonly version: string;
}
interface Listed {
  readonly url: string;
}
interface Delivery {
  readonly id: string;
  readonly runs: readonly string[];
}

const installedPnpm = (): Promise<string> =>
  createdOnce('pnpm', async (half) => {
    await run('npm', ['install', '--no-audit', '--no-fund', '--prefix', half, 'pnpm@12.21.0']);
  });

// It downloads packages for a minute. Tests of packages, published-tasks and webhooks do the same in parts, and always.
test.runIf(isLong)(
  'a pnpm workspace of the published SDK moves, and its webhook is delivered, replayed and rolled back',
  async () => {
    const packed = await packAll();
    onTestFinished(() => packed.remove());
    const root = join(packed.folder, 'shop');
    const dir = join(root, 'packages/jobs');
    await writeFiles(root, workspace(await startRegistry(packed)));
    const PATH = [join(await installedPnpm(), 'node_modules/.bin'), process.env['PATH']].join(delimiter);
    const shell = (command: string): Promise<{ stdout: string }> =>
      promisify(execFile)('sh', ['-c', command], { cwd: dir, env: { ...inherited, PATH } });
    const [install = '', doctor = '', dev = '', trigger = '', app = ''] = await commandsOfPage();

    expect(install).toBe('npm install --save-dev millrace');
    await shell('pnpm add --save-dev millrace');
    expect((await shell(doctor)).stdout).toMatch(/^works +.*webhook/m);
    // Deployments of native code need a lockfile of npm, so this task is only run in development.
    await writeFiles(dir, { 'src/trigger/thumbnail.ts': thumbnailTask });
    expect(dev).toBe('npx millrace dev');
    const bin = join(dir, 'node_modules/millrace/bin/millrace.js');
    const server = await startDev(dir, [], bin);
    onTestFinished(async () => {
      server.kill('SIGTERM');
      await server.exitCode;
    });
    const { url, environments } = server.ready;
    expect((await shell(trigger)).stdout).toContain('Hello, Ada!');
    const filledIn = app
      .replace('http://127.0.0.1:4400', url)
      .replace('svc_dev_sk_…', environments.dev.secretKey);
    expect((await shell(filledIn)).stdout).toBe('COMPLETED 16\n');

    await rm(join(dir, 'src/trigger/thumbnail.ts'));
    const env = { MILLRACE_API_URL: url, MILLRACE_SECRET_KEY: environments.prod.secretKey };
    const command = async (...args: string[]): Promise<string> => {
      const { exitCode, stdout, stderr } = await finished(args, { cwd: dir, bin, env });
      expect({ args, exitCode, stderr }).toMatchObject({ exitCode: 0 });
      return stdout;
    };
    const json = async <T>(...args: string[]): Promise<T> =>
      JSON.parse(await command(...args, '--json')) as T;
    await command('env', 'set', 'STRIPE_WEBHOOK_SECRET=whsec_test');
    const runner = millrace(['work'], { cwd: root, bin, env });
    onTestFinished(async () => {
      runner.kill('SIGTERM');
      await runner.exitCode;
    });
    const first = await json<Deployed>('deploy', '--force');
    await writeFiles(dir, { 'src/trigger/stripe.ts': stripeHandler('second') });
    const second = await json<Deployed>('deploy', '--force');
    expect(second.version).not.toBe(first.version);

    const { url: address } = await json<Listed>('webhooks', 'list');
    const deliver = async (id: string): Promise<Delivery> => {
      const body = Buffer.from(JSON.stringify({ id, type: 'invoice.paid' }));
      const signed = signRequest({ scheme: 'stripe', secrets: [] }, 'whsec_test', {
        id,
        at: Date.now(),
        body,
      });
      const send = () =>
        fetch(address, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...signed },
          body: new Uint8Array(body),
        });
      expect((await send()).status).toBe(200);
      const repeated = (await (await send()).json()) as { id: string; isDuplicate: boolean };
      expect(repeated.isDuplicate).toBe(true);
      const { runs } = await json<{ runs: { id: string }[] }>('webhooks', 'show', repeated.id);
      return { id: repeated.id, runs: runs.map((each) => each.id) };
    };
    const output = async (id = ''): Promise<unknown> => {
      const retrieve = () => json<{ status: string; output: unknown }>('runs', 'show', id);
      await expect.poll(async () => (await retrieve()).status, { timeout: 60_000 }).toBe('COMPLETED');
      return (await retrieve()).output;
    };
    const by = (version: string) => ({ handledBy: version, type: 'invoice.paid' });

    const delivery = await deliver('evt_1');
    expect(delivery.runs).toHaveLength(1);
    expect(await output(delivery.runs[0])).toEqual(by('second'));
    const onFirst = await command('webhooks', 'replay', delivery.id, '--on-version', first.version);
    expect(await output(onFirst)).toEqual(by('first'));

    await command('versions', 'rollback');
    expect(await output((await deliver('evt_2')).runs[0])).toEqual(by('first'));
    expect(await output(await command('webhooks', 'replay', delivery.id))).toEqual(by('first'));
  },
  600_000,
);
