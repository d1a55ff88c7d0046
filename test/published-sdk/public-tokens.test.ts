import type * as Published from '@trigger.dev/sdk';
import { describe, expect, test } from 'vitest';
import { startProject } from '../support/project.ts';
import { testServer, type TestServer } from '../support/server.ts';
import { versions } from './each-version.ts';

const project = {
  'tasks/large.ts': `import { task } from '@millrace/sdk';
export const large = task({
  id: 'large',
  run: async ({ text }: { text: string }) => ({ text, at: new Date(7) }),
});
export const other = task({ id: 'other', run: async () => {} });
`,
};

describe.each(versions)('with a public token, the published SDK %s', (version, load) => {
  // The members in use have had the same types since 4.0.
  const start = async (): Promise<[sdk: typeof Published, server: TestServer]> => [
    (await load()) as typeof Published,
    await testServer(),
  ];

  test('follows a run whose payload and output are stored separately', { timeout: 60_000 }, async () => {
    const [sdk, server] = await start();
    await startProject(server, project);
    const text = 'x'.repeat(300_000);
    const withKey = { baseURL: server.url, accessToken: server.keys.prod };
    const handle = await sdk.auth.withAuth(withKey, async () => {
      const triggered = await sdk.tasks.trigger('large', { text });
      await sdk.runs.poll(triggered.id, { pollIntervalMs: 100 });
      return triggered;
    });
    const withToken = { baseURL: server.url, accessToken: handle.publicAccessToken };
    await sdk.auth.withAuth(withToken, async () => {
      for await (const run of sdk.runs.subscribeToRun(handle.id)) {
        expect(run).toMatchObject({ payload: { text }, output: { text, at: new Date(7) } });
        break;
      }
    });
  });

  test(
    'triggers the batches that the token permits, also with large payloads',
    { timeout: 30_000 },
    async () => {
      const [sdk, server] = await start();
      const { keys, url: baseURL } = server;
      const text = 'x'.repeat(version === '4.0' ? 1_000 : 200_000);
      const batchOf = (task: string, accessToken: string) =>
        sdk.auth.withAuth({ baseURL, accessToken }, () =>
          sdk.tasks.batchTrigger(task, [{ payload: { text } }]),
        );
      const token = await sdk.auth.withAuth({ baseURL, accessToken: keys.prod }, () =>
        sdk.auth.createBatchTriggerPublicToken('large'),
      );
      // A rejected call does not use up the token, which is valid for one batch.
      if (version !== '4.4') await expect(batchOf('other', token)).rejects.toThrow('Unauthorized');
      const { batchId } = await batchOf('large', token);
      const { body } = await server.ask(`/api/v2/batches/${batchId}`);
      expect(body).toMatchObject({ status: 'PENDING', runCount: 1 });
      await expect(batchOf('large', token)).rejects.toThrow(/already been used/);
      const many = await sdk.auth.withAuth({ baseURL, accessToken: keys.prod }, () =>
        sdk.auth.createBatchTriggerPublicToken(['large'], { multipleUse: true }),
      );
      await expect(batchOf('other', many)).rejects.toThrow('Unauthorized');
      expect((await batchOf('large', many)).runCount).toBe(1);
      // A batch that it opens without naming a task accepts no items of tasks that it may not trigger.
      expect((await server.ask('/api/v1/runs?filter[taskIdentifier]=other')).body.data).toEqual([]);
    },
  );
});
