/** Terminal output of tasks: `millrace dev` in a real process, with secrets in its environment. */
import { expect, onTestFinished, test, vi } from 'vitest';
import { encodingsOf } from '../../packages/server/src/envvars/redact/encodings.ts';
import { startDev, temporaryProject } from '../cli/command.ts';

const sentinel = 'Sentinel-41d7/Ünï+"quoted"\\back ?&=é';

const tasks = `
import { logger, task } from '@millrace/sdk';
const secret = () => process.env.SENTINEL ?? 'no secret here yet';
const base64 = (text: string) => Buffer.from(text).toString('base64');

console.log('at the start: ' + secret());
console.error('at the start in base64: ' + base64('user:' + secret()));
process.stdout.write('in two ' + secret().slice(0, 16));
await new Promise((resolve) => setTimeout(resolve, 50));
process.stdout.write(secret().slice(16) + ' pieces\\n');

export const knows = task({ id: 'knows', run: async () => process.env.SENTINEL !== undefined });
export const speaks = task({ id: 'speaks', run: async () => {
  console.log('plainly ' + secret());
  console.error({ secret: secret(), list: [base64(secret())] });
  console.log('in base64: ' + base64(secret()) + ' and ' + base64('user:' + secret()));
  console.warn('as an address: ?key=' + encodeURIComponent(secret()));
  logger.info('logged ' + secret(), { [secret()]: secret() });
  process.stdout.write('written ' + secret() + '\\n');
  process.stderr.write('in two ' + secret().slice(0, 12));
  await new Promise((resolve) => setTimeout(resolve, 20));
  process.stderr.write(secret().slice(12) + ' pieces\\n');
  return secret();
} });

class Refused extends Error {
  override name = 'Refused ' + secret();
}
export const throws = task({ id: 'throws', retry: { maxAttempts: 2, minTimeoutInMs: 1, maxTimeoutInMs: 1 }, run: async () => {
  throw new Refused('no access with ' + secret(), { cause: new Error(base64('user:' + secret())) });
} });

export const dies = task({ id: 'dies', isolated: true, retry: { maxAttempts: 1 }, run: async () => {
  process.stderr.write('last words: ' + secret() + '\\n');
  setImmediate(() => { throw new Error('outside of any run: ' + secret()); });
  await new Promise((resolve) => setTimeout(resolve, 60_000));
} });
`;

test(
  'shows no secret of the environment when tasks log, throw, print or crash',
  { timeout: 120_000 },
  async () => {
    const project = await temporaryProject({ 'tasks/leak.ts': tasks });
    const dev = await startDev(project.path);
    onTestFinished(async () => {
      dev.kill('SIGTERM');
      await dev.exitCode;
      await project.remove();
    });
    const { url, projectRef, environments } = dev.ready;
    const call = async (method: string, path: string, body?: object) => {
      const response = await fetch(url + path, {
        method,
        headers: { authorization: `Bearer ${environments.dev.secretKey}` },
        ...(body && { body: JSON.stringify(body) }),
      });
      expect([path, response.status]).toEqual([path, 200]);
      return (await response.json()) as { id: string; finishedAt?: string; status: string; output?: unknown };
    };
    await call('POST', `/api/v1/projects/${projectRef}/envvars/dev`, {
      name: 'SENTINEL',
      value: sentinel,
      isSecret: true,
    });
    const trigger = async (task: string) =>
      (await call('POST', `/api/v1/tasks/${task}/trigger`, { payload: {} })).id;
    const over = async (id: string) => {
      let run = await call('GET', `/api/v3/runs/${id}`);
      await vi.waitUntil(
        async () => (run = await call('GET', `/api/v3/runs/${id}`)).finishedAt !== undefined,
        { timeout: 60_000, interval: 100 },
      );
      return run;
    };
    await vi.waitUntil(async () => (await over(await trigger('knows'))).output === true, { timeout: 30_000 });
    const runs = await Promise.all(['speaks', 'throws', 'dies'].map(trigger));
    expect((await Promise.all(runs.map(over))).map(({ status }) => status)).toEqual([
      'COMPLETED',
      'FAILED',
      'FAILED',
    ]);
    const output = () => [...dev.stdout, ...dev.stderr].join('\n');
    // Because these are present, the rest would be too.
    for (const words of [
      'no access with',
      'outside of any run',
      'start: <redacted>',
      'base64: dXNlcj',
      'in two <redacted> pieces',
    ]) {
      await expect.poll(output, { timeout: 20_000 }).toContain(words);
    }
    dev.kill('SIGTERM');
    await dev.exitCode;
    const text = output();
    for (const spelling of encodingsOf(sentinel)) expect(text).not.toContain(spelling);
    expect(text).not.toContain('Sentinel-41d7');
    for (const padding of ['', 'user:', 'x', 'xy']) {
      const encoded = Buffer.from(padding + sentinel).toString('base64');
      expect(text).not.toContain(encoded.slice(12, 40));
    }
  },
);
