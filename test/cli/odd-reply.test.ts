/** Another server than Millrace at the address: one sentence, no stack. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryProject } from './command.ts';
import { finished } from './in-process.ts';

test('an invalid reply to `env` is reported in one sentence', { timeout: 120_000 }, async () => {
  let reply = '';
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(reply);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const project = await temporaryProject({ 'push.env': 'STRIPE_KEY=sk_live_0\n' });
  onTestFinished(project.remove);
  const { port } = server.address() as AddressInfo;
  const connection = [
    '--url',
    `http://127.0.0.1:${port}`,
    '--key',
    'svc_prod_sk_0',
    '--project',
    'p',
    '--env',
    'prod',
  ];
  for (const [text, commands] of [
    ['{"ok":true}', ['push push.env', 'import push.env', 'list', 'pull', 'history', 'diff 1', 'rollback 1']],
    ['null', ['push push.env', 'list', 'pull']],
    ['[null]', ['push push.env']],
    ['{"variables":{"A":1}}', ['pull']],
    ['{"changes":[null],"data":[null]}', ['diff 1', 'rollback 1', 'history']],
  ] as const) {
    reply = text;
    for (const command of commands) {
      const { exitCode, stderr } = await finished(['env', ...command.split(' '), ...connection], {
        cwd: project.path,
      });
      expect([text, command, exitCode, stderr]).toEqual([
        text,
        command,
        1,
        "millrace: 200 with a body that is not this API's; is baseURL the address of a Millrace server? See: millrace help not-a-millrace-server",
      ]);
    }
  }
});

test(
  'the page of a proxy is reported in one sentence by each kind of command',
  { timeout: 120_000 },
  async () => {
    let status = 200;
    const server = createServer((request, response) => {
      request.resume().on('end', () => {
        response
          .writeHead(status, { 'content-type': 'text/html' })
          .end('<html><head><title>Log in to the proxy</title></head></html>');
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const project = await temporaryProject({
      'tasks/a.ts': `import { task } from '@millrace/sdk'; export const a = task({ id: 'a', run: async () => 1 });`,
    });
    onTestFinished(project.remove);
    const env = {
      MILLRACE_API_URL: url,
      MILLRACE_SECRET_KEY: 'svc_prod_sk_0',
      MILLRACE_ACCESS_TOKEN: 'svc_pat_0',
    };
    for (status of [200, 403, 502]) {
      // By a personal access token, by the SDK, and by the client of deployments.
      for (const command of ['storage', 'runs list', 'deploy']) {
        const { exitCode, stderr } = await finished(command.split(' '), { cwd: project.path, env });
        expect([command, exitCode, stderr.split('\n').at(-1)]).toEqual([
          command,
          expect.toBeOneOf([1, 4]),
          `millrace: ${status} from a proxy or another program, not from a Millrace server: "Log in to the proxy"; see: millrace help not-a-millrace-server`,
        ]);
      }
    }
  },
);
