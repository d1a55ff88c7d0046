/** Each web server of examples/frameworks in a process: a request triggers a run, and the token in the response follows it to its end. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MillraceClient } from '@millrace/sdk';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type * as tasks from '../../examples/frameworks/tasks/index.ts';
import { startRunner } from '../../packages/millrace/src/serve-folder/start.ts';
import { repository } from '../cli/command.ts';
import { newContext } from '../support/chromium.ts';
import { promote } from '../support/promote.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { bundles, filesOf } from './bundles.ts';
import { inEdgeRuntime } from './edge.ts';
import { commandsOf, example, finished, started } from './start.ts';

const page = await readFile(join(repository, 'docs/frameworks.md'), 'utf8');
/** The request of the page. */
const email = /--json '([^']+)'/.exec(page)?.[1] ?? '';

const ends: (() => Promise<void>)[] = [];
let server: TestServer;
let variables: Readonly<Record<string, string>>;
beforeAll(async () => {
  server = await startTestServer((end) => void ends.push(end));
  const runner = await startRunner({
    url: server.url,
    secretKey: server.keys.prod,
    projectDir: example,
    watch: false,
    isStrict: true,
  });
  ends.push(() => runner.stop({ waitMs: 0 }));
  await promote(server.url, server.keys.prod, runner.version ?? undefined);
  variables = { MILLRACE_API_URL: server.url, MILLRACE_SECRET_KEY: server.keys.prod };
}, 60_000);
afterAll(async () => {
  for (const end of ends.toReversed()) await end();
});

const post = (address: string, body: string): Promise<Response> =>
  fetch(address, { method: 'POST', body, headers: { 'content-type': 'application/json' } });

/** As in a browser: with the address of the server and the content of the response. */
async function followed(answer: unknown) {
  const { id, publicAccessToken } = answer as { id: string; publicAccessToken: string };
  const client = new MillraceClient<typeof tasks>({ baseURL: server.url, accessToken: publicAccessToken });
  let last;
  for await (const run of client.runs.subscribeToRun<typeof tasks.sendEmail>(id)) last = run;
  expect(last).toMatchObject({
    status: 'COMPLETED',
    taskIdentifier: 'send-email',
    metadata: { server: 'smtp://mail.internal' },
  });
  expect(last?.output?.messageId).toMatch(/^[0-9a-f]{16}$/);
}

async function servesEmails(address: string): Promise<void> {
  const answer = await post(address, email);
  expect(answer.status).toBe(202);
  await followed(await answer.json());

  const refused = await post(address, '{"to":"nobody","subject":"Hello"}');
  expect([refused.status, await refused.text()]).toEqual([400, expect.stringMatching(/\bto\b/)]);
  expect((await post(address, '{"to":')).status).toBe(400);
}

test.each(['express', 'fastify', 'hono', 'nestjs'])(
  '%s triggers a run, and rejects an invalid payload',
  async (name) => {
    expect(page).toContain(name);
    const commands = commandsOf(name);
    for (const command of commands.slice(0, -1)) await finished(command);
    const { url, stop } = await started(commands.at(-1) ?? '', variables);
    onTestFinished(stop);
    await servesEmails(`${url}/emails`);
  },
);

test('a CommonJS program, such as one of NestJS 11, requires the SDK', async () => {
  const program = `const { MillraceClient } = require('@millrace/sdk');
    new MillraceClient().tasks.trigger('send-email', ${email}).then(({ id }) => console.log(id));`;
  const result = await finished(
    `node --input-type=commonjs -e '${program.replaceAll("'", `'\\''`)}'`,
    variables,
  );
  expect(result).toMatch(/^run_\w+\n$/);
});

test('the Edge Runtime triggers with fetch alone', async () => {
  const answer = await inEdgeRuntime(variables, email);
  await followed(answer);
});

describe('Next.js', () => {
  // The build has no address, and another key than the server that is started later.
  const keyAtBuild = 'svc_prod_sk_OnlyWhileItWasBuilt';
  let url: string;
  beforeAll(async () => {
    const [build = '', start = ''] = commandsOf('nextjs');
    await finished(build, { MILLRACE_SECRET_KEY: keyAtBuild });
    const next = await started(start, variables);
    ends.push(next.stop);
    url = next.url;
  }, 120_000);

  test('a route handler triggers a run, and rejects an invalid payload', async () => {
    await servesEmails(`${url}/api/emails`);
  });

  test(
    'a page triggers through a server action and directly, and follows both runs',
    { timeout: 120_000 },
    async () => {
      const tab = await (await newContext()).newPage();
      const problems: string[] = [];
      tab.on('pageerror', (error) => problems.push(String(error)));
      tab.on('console', (message) => {
        if (message.type() === 'error') problems.push(message.text());
      });
      const seen: string[] = [];
      tab.on('response', (response) => {
        if (response.url().startsWith(url))
          void response.text().then(
            (text) => seen.push(text),
            () => undefined,
          );
      });
      await tab.goto(url);
      const [form, byItself] = [tab.locator('form output'), tab.locator('p output')];

      await tab.fill('[name=to]', 'nobody');
      await tab.fill('[name=subject]', 'Hello');
      await tab.click('form button');
      await expect.poll(() => form.textContent()).toMatch(/at to/);
      await tab.fill('[name=to]', 'ada@example.com');
      await tab.fill('[name=subject]', 'Hello');
      await tab.click('form button');
      await tab.click('p button');
      for (const output of [form, byItself])
        await expect
          .poll(() => output.textContent(), { timeout: 20_000 })
          .toMatch(/^COMPLETED [0-9a-f]{16}$/);
      expect(problems).toEqual([]);
      expect(seen.join('\n')).toContain('send-email');
      expect(seen.join('\n')).not.toContain(server.keys.prod);
    },
  );

  test('builds neither task code nor secrets into the server or the page', async () => {
    const [inPage, inServer] = await Promise.all(
      ['static', 'server'].map((part) => filesOf(join(example, 'nextjs/.next', part))),
    );
    // They contain the expected code.
    expect(inPage).toContain('/realtime/v1/runs/:runId/events');
    expect(inServer).toContain('/api/v1/tasks/:taskId/trigger');
    for (const text of [inPage, inServer]) {
      expect(text).not.toContain('smtp://mail.internal');
      expect(text).not.toContain(keyAtBuild);
    }
    // Neither imports of a task nor modules that the SDK uses on a server.
    expect(inPage).not.toMatch(/["'`]node:(?!async_hooks)/);
  });
});

test.each(Object.entries(bundles))('%s bundles a page without task or server code', async (_, bundle) => {
  const { code, modules, imports } = await bundle(join(example, 'nextjs/app/test-email.tsx'));
  expect(code).toContain('/realtime/v1/runs/:runId/events');
  expect(code).not.toContain('smtp://mail.internal');
  expect(
    modules.filter((path) =>
      /frameworks\/(?:tasks|millrace)|sdk\/dist\/(?:executor|transport\/node)/.test(path),
    ),
  ).toEqual([]);
  expect(imports.filter((name) => !name.startsWith('react'))).toEqual([]);
});

test('docs/frameworks.md shows the files of the example', async () => {
  const blocks = [...page.matchAll(/```tsx?\n\/\/ (\S+)\n[\s\S]*?```/g)];
  expect(blocks.length).toBeGreaterThan(10);
  let updated = page;
  for (const [block, path = ''] of blocks) {
    const text = (await readFile(join(example, path), 'utf8')).replaceAll(/^\/\/ oxlint-disable.*\n/gm, '');
    updated = updated.replace(
      block,
      () => `\`\`\`${path.endsWith('x') ? 'tsx' : 'ts'}\n// ${path}\n${text}\`\`\``,
    );
  }
  await expect(updated).toMatchFileSnapshot('../../docs/frameworks.md');
});
