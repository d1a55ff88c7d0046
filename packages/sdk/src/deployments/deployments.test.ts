import { afterEach, beforeEach, expect, test } from 'vitest';
import { configure, deployments, MillraceClient } from '../index.ts';
import { startServer, type HttpServer } from '../testing/http-server.ts';

const wire = (version: string) => ({
  id: `deployment_${version}`,
  version,
  state: 'ready',
  createdAt: '2026-11-20T00:00:00.000Z',
  deployedAt: '2026-11-21T00:00:00.000Z',
});

let server: HttpServer;
beforeEach(async () => {
  server = await startServer(({ path }) => {
    if (path.includes('/promote')) return { body: { id: 'd', version: '1', shortCode: 's', replaced: null } };
    const { searchParams, pathname } = new URL(path, 'http://x');
    if (pathname !== '/api/v1/deployments') return { body: wire('20261120.2') };
    const isSecond = searchParams.has('page[after]');
    return {
      body: {
        data: [wire(isSecond ? '20261120.1' : '20261120.2')],
        pagination: isSecond ? {} : { next: 'd2' },
      },
    };
  });
  configure({ baseURL: server.url, secretKey: 'k' });
});
afterEach(() => server.close());

const paths = () => server.received.map(({ method, path }) => `${method} ${path}`);

test('lists all pages with the filters of the API, with times as dates', async () => {
  const found = [];
  const from = new Date('2026-11-01T00:00:00.000Z');
  for await (const deployment of deployments.list({ status: 'DEPLOYED', from, limit: 1 }))
    found.push(deployment);
  expect(found.map(({ version }) => version)).toEqual(['20261120.2', '20261120.1']);
  expect(found[0]?.deployedAt).toEqual(new Date('2026-11-21T00:00:00.000Z'));
  expect(paths()[1]).toBe(
    'GET /api/v1/deployments?page%5Bsize%5D=1&status=DEPLOYED&from=2026-11-01T00%3A00%3A00.000Z&page%5Bafter%5D=d2',
  );
});

test('moves runs until all are moved, and returns the initial waiting counts', async () => {
  const replies = [
    { moved: 2_000, isComplete: false },
    { moved: 500, isComplete: true },
  ];
  const waiting = [{ task: 'send', status: 'QUEUED', count: 2_500 }];
  const bodies: unknown[] = [];
  const other = await startServer(({ body }) => {
    bodies.push(body);
    return { body: { from: '1', to: '2', waiting, missingTasks: [], staying: 1, ...replies.shift() } };
  });
  configure({ baseURL: other.url, secretKey: 'k' });
  expect(await deployments.move('1', { version: '2' }, { task: 'send', status: ['QUEUED'] })).toEqual({
    from: '1',
    to: '2',
    waiting,
    missingTasks: [],
    staying: 1,
    moved: 2_500,
    isComplete: true,
  });
  expect(other.received.map(({ method, path }) => `${method} ${path}`)).toEqual(
    Array(2).fill('POST /api/v1/deployments/1/move'),
  );
  expect(bodies[0]).toEqual({ to: '2', task: ['send'], status: ['QUEUED'] });
  replies.push({ moved: 0, isComplete: false });
  expect(await deployments.move('1', '2', { dryRun: true })).toMatchObject({ moved: 0, isComplete: false });
  expect(bodies).toHaveLength(3);
  await other.close();
});

test('retrieves, promotes and archives by version, id or the deployment itself', async () => {
  const deployment = await deployments.retrieve('20261120.2');
  await deployments.retrieveCurrent();
  await deployments.retrieveLatest();
  await deployments.promote(deployment, { allowRollbacks: true });
  await new MillraceClient({ baseURL: server.url, secretKey: 'k' }).deployments.promote('deployment_1', {
    force: true,
  });
  await deployments.promote(deployment, { percent: 10 });
  await deployments.abortCanary(deployment);
  await deployments.archive(deployment);
  await deployments.source(deployment, { file: '/srv/shop/a b.ts', line: 14 });
  expect(paths()).toEqual([
    'GET /api/v1/deployments/20261120.2',
    'GET /api/v1/deployments/current',
    'GET /api/v1/deployments/latest',
    'POST /api/v1/deployments/20261120.2/promote?allowRollbacks=true',
    'POST /api/v1/deployments/deployment_1/promote?force=true',
    'POST /api/v1/deployments/20261120.2/promote?percent=10',
    'POST /api/v1/deployments/20261120.2/abort-canary',
    'POST /api/v1/deployments/20261120.2/archive',
    'GET /api/v1/deployments/20261120.2/source?file=%2Fsrv%2Fshop%2Fa+b.ts&line=14',
  ]);
});

test('compares two deployments, by default with the one before, with times as dates', async () => {
  const same = { tasks: [], hasMoreDeployments: false, commitsUrl: null };
  const other = await startServer(() => ({
    body: { ...same, before: wire('1'), after: wire('2'), deployments: [wire('2')] },
  }));
  configure({ baseURL: other.url, secretKey: 'k' });
  const found = await deployments.compare({ version: '2' });
  await deployments.compare('2', '1');
  const createdAt = new Date('2026-11-20T00:00:00.000Z');
  expect(found).toMatchObject({
    ...same,
    before: { version: '1', createdAt },
    after: { version: '2', createdAt },
    deployments: [{ version: '2', createdAt }],
  });
  expect(other.received.map(({ path }) => path)).toEqual([
    '/api/v1/deployments/2/compare',
    '/api/v1/deployments/2/compare?with=1',
  ]);
  await other.close();
});

test.each([undefined, '', 5, {}])(
  'a deployment named by %j is rejected before a request',
  async (reference) => {
    await expect(deployments.retrieve(reference as string)).rejects.toThrow(/Pass the version/);
    expect(server.received).toHaveLength(0);
  },
);
