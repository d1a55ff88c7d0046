import type * as Published from '@trigger.dev/sdk';
import { expect, test } from 'vitest';
import { sharedServer } from '../support/shared-server.ts';

const versions: readonly (readonly [string, () => Promise<unknown>])[] = [
  ['4.0', () => import('published-sdk-4.0')],
  ['4.4', () => import('published-sdk-4.4')],
  ['4.5', () => import('published-sdk-4.5')],
];

test.each(versions)(
  'the published SDK %s follows a run to its end, and runs with a tag',
  { timeout: 60_000 },
  async (_version, load) => {
    // The members in use have had the same types since 4.0.
    const { auth, runs } = (await load()) as typeof Published;
    const server = await sharedServer();
    const { body } = await server.ask('/api/v1/tasks/work/trigger', {
      method: 'POST',
      body: { payload: 1, options: { tags: ['a', 'b'] } },
    });
    const statuses: string[] = [];
    // They cache the first configuration of a process.
    await auth.withAuth({ baseURL: server.url, accessToken: server.keys.prod }, async () => {
      for await (const run of runs.subscribeToRun(body.id as string)) {
        statuses.push(run.status);
        // These do not end by themselves with any server.
        if (run.status === 'CANCELED') break;
        await server.ask(`/api/v2/runs/${body.id}/cancel`, { method: 'POST' });
      }
      for await (const run of runs.subscribeToRunsWithTag('b')) {
        expect([run.id, run.status, run.tags]).toEqual([body.id, 'CANCELED', ['a', 'b']]);
        break;
      }
    });
    expect(statuses).toEqual(['PENDING_VERSION', 'CANCELED']);
  },
);
