import { expect, test } from 'vitest';
import { bundleOf } from '../versions/deployments/testing/bundle.ts';
import { deploy } from '../../../../test/deployments/client.ts';
import { batchServer } from './testing/batch-server.ts';

test('items with externalDeploymentId wait for the deployment, and the others start', async () => {
  const server = await batchServer();
  await server.register('send');
  const batch = await server.open({ runCount: 3 });
  const options = { externalDeploymentId: ' build-1 ' };
  await server.fill(batch, [
    { index: 0 },
    { index: 1, options },
    { index: 2, options: { ...options, delay: '1h' } },
  ]);
  const statuses = async () =>
    Promise.all(
      ((await server.retrieve(batch)).body.runs as string[]).map(async (id) => {
        const { body } = await server.ask(`GET /api/v3/runs/${id}`, { key: server.keys.prod });
        return [body.status, body.version];
      }),
    );
  expect(await statuses()).toEqual([
    ['QUEUED', undefined],
    ['PENDING_VERSION', undefined],
    ['DELAYED', undefined],
  ]);
  const [, waiting] = (await server.retrieve(batch)).body.runs as string[];
  const why = await server.ask(`GET /api/v1/runs/${waiting}/reason`, { key: server.keys.prod });
  expect(why.body).toMatchObject({
    reason: 'no_version',
    message: expect.stringMatching(
      /is waiting for the deployment "build-1" \(externalDeploymentId\)/,
    ) as string,
  });
  const bundle = bundleOf({}, { more: { externalId: 'build-1' } });
  const { version } = await deploy({ url: server.server.url, key: server.keys.prod }, bundle);
  expect((await statuses()).slice(0, 2)).toEqual([
    ['QUEUED', undefined],
    ['QUEUED', version],
  ]);
  const other = await server.open({ runCount: 2 });
  await server.fill(other, [{ index: 0, options }, { index: 1 }]);
  expect((await server.retrieve(other)).body.runs).toHaveLength(2);
});
