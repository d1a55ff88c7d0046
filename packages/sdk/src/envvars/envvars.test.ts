import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { configure } from '../client/current-client.ts';
import { ConfigurationError } from '../client/settings.ts';
import { startServer, type Answer, type HttpServer, type Received } from '../testing/http-server.ts';
import { envvars } from './index.ts';

let server: HttpServer;
let answer: (request: Received) => Answer;
beforeAll(async () => {
  server = await startServer((request) =>
    request.path === '/api/v1/whoami'
      ? { body: { project: { ref: 'proj_own' }, environment: { id: 'env_1', name: 'stg' } } }
      : answer(request),
  );
});
afterAll(() => server.close());
beforeEach(() => {
  server.received.length = 0;
  answer = ({ method, path }) => {
    if (method === 'GET' && /\/envvars\/\w+$/.test(path)) return { body: [] };
    return { body: path.includes('/envvar-revisions/') ? { changes: [] } : { success: true } };
  };
  configure({ baseURL: server.url, secretKey: 'svc_stg_sk_1', retry: { maxAttempts: 1 } });
});

const requests = () =>
  server.received
    .filter(({ path }) => path !== '/api/v1/whoami')
    .map(({ method, path, body }) => [method, path.replace('/api/v1/projects/', ''), body]);

describe('each call', () => {
  test('sends the given project and environment', async () => {
    await envvars.list('proj_a', 'prod');
    await envvars.retrieve('proj_a', 'prod', 'A');
    await envvars.create('proj_a', 'prod', { name: 'A', value: '1', isSecret: true });
    await envvars.update('proj_a', 'prod', 'A', { value: '2' });
    await envvars.del('proj_a', 'prod', 'A');
    await envvars.upload('proj_a', 'prod', { variables: { A: '1' }, override: true });
    await envvars.diff('proj_a', 'prod', { from: 1, to: 2 });
    await envvars.rollback('proj_a', 'prod', { revision: 1 });
    expect(requests()).toEqual([
      ['GET', 'proj_a/envvars/prod', undefined],
      ['GET', 'proj_a/envvars/prod/A', undefined],
      ['POST', 'proj_a/envvars/prod', { name: 'A', value: '1', isSecret: true }],
      ['PUT', 'proj_a/envvars/prod/A', { value: '2' }],
      ['DELETE', 'proj_a/envvars/prod/A', undefined],
      ['POST', 'proj_a/envvars/prod/import', { variables: { A: '1' }, override: true }],
      ['GET', 'proj_a/envvar-revisions/prod/diff?from=1&to=2', undefined],
      ['POST', 'proj_a/envvar-revisions/prod/rollback', { revision: 1 }],
    ]);
    expect(server.received).toHaveLength(8);
  });

  test('without them applies to the environment of the secret key, which is requested once', async () => {
    await Promise.all([envvars.list(), envvars.retrieve('A')]);
    await envvars.create({ name: 'A', value: '1' });
    await envvars.update('A', { value: '2' });
    await envvars.del('A');
    await envvars.upload({ variables: {} });
    await envvars.diff({ from: 1 });
    await envvars.rollback({ revision: 1 });
    expect(requests().every(([, path]) => /^proj_own\/envvar(s|-revisions)\/stg/.test(String(path)))).toBe(
      true,
    );
    expect(server.received).toHaveLength(9);
  });
});

test('readAll returns the values by name', async () => {
  answer = () => ({ body: { variables: { A: '1' }, revision: 3 } });
  expect(await envvars.readAll()).toEqual({ A: '1' });
  expect(requests()).toEqual([['GET', 'proj_own/envvars', undefined]]);
});

test('the history is read page by page, with dates', async () => {
  const revision = (number: number) => ({ revision: number, at: '2026-11-21T00:00:00.000Z', changes: [] });
  answer = ({ path }) => ({
    body: path.includes('after')
      ? { data: [revision(1)], pagination: {} }
      : { data: [revision(3), revision(2)], pagination: { next: '2' } },
  });
  const read = [];
  for await (const each of envvars.history()) read.push(each);
  expect(read.map(({ revision: number }) => number)).toEqual([3, 2, 1]);
  expect(read[0]?.at).toEqual(new Date('2026-11-21'));
  expect(requests().at(-1)?.[1]).toBe('proj_own/envvar-revisions/stg?page%5Bafter%5D=2');
});

test('a personal access token requires both, and an incomplete address is rejected', async () => {
  configure({ baseURL: server.url, accessToken: 'svc_pat_1' });
  await expect(envvars.list()).rejects.toThrow(ConfigurationError);
  await expect(envvars.history()).rejects.toThrow(ConfigurationError);
  await expect((envvars.list as (ref: string) => Promise<unknown>)('proj_a')).rejects.toThrow(/both/);
  await expect(envvars.list('proj_a', undefined as never)).rejects.toThrow(/env must be/);
  expect(server.received).toHaveLength(0);
});
