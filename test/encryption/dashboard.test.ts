import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { configure, runs, tasks } from '@millrace/sdk';
import { aesGcmCodec, codecHandler } from '@millrace/sdk/codec';
import { expect, onTestFinished, test } from 'vitest';
import { openDashboard } from '../support/dashboard.ts';
import { startProject } from '../support/project.ts';
import { testServer } from '../support/server.ts';
import { canary, codecFile, configFile, holdKeys, sealingTasks } from './project.ts';

/** A decryption endpoint of the user, on another origin than the server. It accepts requests with its cookie. */
async function startEndpoint() {
  const codec = aesGcmCodec({
    keys: { k1: { env: 'CODEC_KEY_1' }, k2: { env: 'CODEC_KEY_2' } },
    current: 'k1',
    boundTo: 'test/prod',
  });
  let handle: ReturnType<typeof codecHandler> | undefined;
  const methods: string[] = [];
  const listening = createServer((request, response) => {
    void (async () => {
      const { method = 'GET', headers } = request;
      methods.push(method);
      const body = method === 'POST' ? await buffer(request) : null;
      const forwarded = new Request('http://localhost/', {
        method,
        headers: headers as Record<string, string>,
        body: body && new Uint8Array(body),
      });
      const answer = await handle!(forwarded);
      response.writeHead(answer.status, Object.fromEntries(answer.headers));
      response.end(Buffer.from(await answer.arrayBuffer()));
    })();
  });
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void listening.close());
  return {
    url: `http://127.0.0.1:${(listening.address() as AddressInfo).port}/open`,
    methods: methods,
    allow(origin: string, isAllowed: () => boolean) {
      handle = codecHandler(codec, { origins: [origin], authorize: isAllowed });
    },
  };
}

test(
  'the dashboard decrypts data through the endpoint, which the server never calls',
  { timeout: 120_000 },
  async () => {
    onTestFinished(holdKeys());
    const endpoint = await startEndpoint();
    const server = await testServer({ codecEndpoint: endpoint.url });
    let isAllowed = false;
    endpoint.allow(new URL(server.url).origin, () => isAllowed);
    await startProject(server, {
      'tasks/all.ts': sealingTasks,
      'codec.ts': codecFile('k1'),
      'millrace.config.ts': configFile,
    });
    const codec = aesGcmCodec({ keys: { k1: { env: 'CODEC_KEY_1' } }, current: 'k1', boundTo: 'test/prod' });
    configure({ baseURL: server.url, secretKey: server.keys.prod, codec });
    const word = `word ${canary}`;
    const { id } = await tasks.trigger('flow', { word });
    const failing = await tasks.trigger('failing', { why: canary });
    for (const run of [id, failing.id]) await runs.poll(run, { timeoutInMs: 30_000, pollIntervalMs: 50 });
    expect(endpoint.methods).toEqual([]);

    const { page, open } = await openDashboard(server, { otherOrigin: new URL(endpoint.url).origin });
    await open(`/runs/${id}?tab=payload`);
    const { host } = new URL(endpoint.url);
    await page
      .getByText(`Sealed with key k1. ${host} did not open it: Not authorized to read clear text.`)
      .waitFor();
    expect(await page.content()).not.toContain(canary);
    isAllowed = true;
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText(`Sealed with key k1; opened by ${host} for this page only.`).waitFor();
    await page.getByText(`"${word}"`).first().waitFor();
    for (const [tab, text] of [
      ['Output', `answer`],
      ['Metadata', `at work ${word}`],
      ['Logs', `console ${word}`],
    ] as const) {
      await page.getByRole('tab', { name: tab }).click();
      await page.getByText(text).first().waitFor();
    }
    // Data that is sent back to the server stays sealed.
    await page.getByRole('tab', { name: 'Raw' }).click();
    await page.getByText('taskIdentifier').first().waitFor();
    expect(await page.content()).not.toContain(canary);

    await open(`/runs/${failing.id}?tab=error`);
    await page.getByText(`failed for ${canary}`).first().waitFor();
    await page.getByText(`because of ${canary}`).first().waitFor();
    expect(server.logged.filter((line) => line.includes(canary))).toEqual([]);
  },
);

test('the server does not start with an invalid endpoint', async () => {
  for (const codecEndpoint of [
    'codec',
    'http://codec.example.com/',
    'https://a:b@codec.example.com/',
    "https://codec.example.com/;'x",
  ])
    await expect(testServer({ codecEndpoint })).rejects.toThrow(
      /MILLRACE_CODEC_ENDPOINT\) must be an https address/,
    );
});
