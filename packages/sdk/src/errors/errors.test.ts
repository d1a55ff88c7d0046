import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { BadRequestError, configure, errors } from '../index.ts';
import { startServer, type Answer, type HttpServer, type Received } from '../testing/http-server.ts';

let server: HttpServer;
let answer: (request: Received) => Answer;
beforeEach(async () => {
  server = await startServer((request) => answer(request));
  configure({ baseURL: server.url, secretKey: 'k' });
});
afterEach(() => server.close());

const group = (n: number) => ({
  id: `error_${n}`,
  count: n,
  firstSeen: '2026-11-20T00:00:00.000Z',
  lastSeen: '2026-11-21T00:00:00.000Z',
  resolvedAt: null,
});
const queries = () =>
  server.received.map(({ path }) => Object.fromEntries(new URL(path, 'http://x').searchParams));

/** Three pages of one group each, with the group's number as cursor. */
const threePages = ({ path }: Received): Answer => {
  const { searchParams } = new URL(path, 'http://x');
  const [after, before] = [searchParams.get('page[after]'), searchParams.get('page[before]')];
  const at = before ? Number(before) - 1 : Number(after ?? 0) + 1;
  return {
    body: {
      data: [group(at)],
      pagination: { ...(at < 3 && { next: `${at}` }), ...(at > 1 && { previous: `${at}` }) },
    },
  };
};

describe('list', () => {
  test('sends every filter in the form of the API', async () => {
    answer = threePages;
    await errors.list({
      taskIdentifier: ['a', 'b'],
      version: '20261121.1',
      status: ['unresolved', 'ignored'],
      search: 'boom, boom',
      owner: ['@payments', 'ana@example.com'],
      period: '7d',
      from: new Date(1_000),
      to: 2_000,
      sort: 'count',
      limit: 10,
      after: '1',
    });
    expect(queries()).toEqual([
      {
        'filter[taskIdentifier]': 'a,b',
        'filter[version]': '20261121.1',
        'filter[status]': 'unresolved,ignored',
        'filter[search]': 'boom, boom',
        'filter[owner]': '@payments,ana@example.com',
        'filter[period]': '7d',
        'filter[from]': '1000',
        'filter[to]': '2000',
        sort: 'count',
        'page[size]': '10',
        'page[after]': '1',
      },
    ]);
  });

  test('iterates the groups of all pages, with the same filters', async () => {
    answer = threePages;
    const ids: string[] = [];
    for await (const { id, firstSeen, resolvedAt } of errors.list({ status: 'unresolved' })) {
      ids.push(id);
      expect([firstSeen, resolvedAt]).toEqual([new Date('2026-11-20'), null]);
    }
    expect(ids).toEqual(['error_1', 'error_2', 'error_3']);
    expect(queries().map((query) => query['filter[status]'])).toEqual([
      'unresolved',
      'unresolved',
      'unresolved',
    ]);
  });

  test('goes forward and back, with one cursor at a time', async () => {
    answer = threePages;
    const first = await errors.list();
    const second = await first.getNextPage();
    const again = await second.getPreviousPage();
    const forward = await again.getNextPage();
    expect([first, second, again, forward].map(({ data }) => data[0]?.id)).toEqual([
      'error_1',
      'error_2',
      'error_1',
      'error_2',
    ]);
    expect(queries().map(Object.keys)).toEqual([[], ['page[after]'], ['page[before]'], ['page[after]']]);
  });

  test('ends at the first and last page', async () => {
    answer = threePages;
    const last = await errors.list({ after: '2' });
    expect([last.hasNextPage(), last.hasPreviousPage()]).toEqual([false, true]);
    await expect(last.getNextPage()).rejects.toThrow(RangeError);
  });

  test('throws server rejections, awaited or iterated', async () => {
    answer = () => ({
      status: 400,
      body: { error: 'Query Error', details: [{ code: 'custom', message: 'no', path: ['filter[status]'] }] },
    });
    await expect(errors.list({ status: 'open' as never })).rejects.toThrow(BadRequestError);
    const iterator = errors.list()[Symbol.asyncIterator]();
    await expect(iterator.next()).rejects.toMatchObject({
      details: [{ path: ['filter[status]'] }],
    });
  });
});

test('retrieve sends the group in the path and returns dates', async () => {
  answer = () => ({ body: { ...group(1), ignoredAt: null } });
  expect(await errors.retrieve('error_1')).toMatchObject({
    lastSeen: new Date('2026-11-21'),
    resolvedAt: null,
  });
  expect(server.received[0]?.path).toBe('/api/v1/errors/error_1');
});

test('list requests the trend of each group and returns its dates', async () => {
  const trend = { intervalMs: 3_600_000, points: [{ from: '2026-11-21T10:00:00.000Z', count: 3 }] };
  answer = () => ({ body: { data: [{ ...group(1), trend }, group(2)], pagination: {} } });
  const { data } = await errors.list({ trend: '24h' });
  expect(data.map((each) => each.trend)).toEqual([
    { intervalMs: 3_600_000, points: [{ from: new Date('2026-11-21T10:00:00Z'), count: 3 }] },
    undefined,
  ]);
  expect(queries()).toEqual([{ trend: '24h' }]);
});

test('retrieve requests the trend of a period and returns its dates', async () => {
  const trend = { intervalMs: 3_600_000, points: [{ from: '2026-11-21T10:00:00.000Z', count: 3 }] };
  answer = () => ({ body: { ...group(1), trend } });
  expect((await errors.retrieve('error_1', { trend: '24h' })).trend).toEqual({
    intervalMs: 3_600_000,
    points: [{ from: new Date('2026-11-21T10:00:00.000Z'), count: 3 }],
  });
  expect(queries()).toEqual([{ trend: '24h' }]);
});

test('resolve sends the version with the fix, or none', async () => {
  answer = () => ({ body: { ...group(1), resolvedAt: '2026-11-21T00:00:00.000Z' } });
  const resolved = await errors.resolve('error_1', { resolvedInVersion: '20261121.3' });
  await errors.resolve({ id: 'error_1' });
  expect(resolved.resolvedAt).toEqual(new Date('2026-11-21'));
  expect(server.received.map(({ path, body }) => [path, body])).toEqual([
    ['/api/v1/errors/error_1/resolve', { resolvedInVersion: '20261121.3' }],
    ['/api/v1/errors/error_1/resolve', {}],
  ]);
});

test('ignore, unresolve, merge and split send the bodies of the API', async () => {
  answer = () => ({ body: group(1) });
  await errors.ignore('error_1', { duration: 60_000, reason: 'known' });
  await errors.unresolve('error_1');
  await errors.merge('error_1', ['error_2', { id: 'error_3' }]);
  await errors.split('error_1', ['m1-2']);
  expect(server.received.map(({ path, body }) => [path, body])).toEqual([
    ['/api/v1/errors/error_1/ignore', { duration: 60_000, reason: 'known' }],
    ['/api/v1/errors/error_1/unresolve', undefined],
    ['/api/v1/errors/error_1/merge', { errors: ['error_2', 'error_3'] }],
    ['/api/v1/errors/error_1/split', { fingerprints: ['m1-2'] }],
  ]);
});

test('rules are those of the given project, or of the key', async () => {
  const rule = {
    id: 'rule_1',
    position: 1,
    createdAt: '2026-11-21T00:00:00.000Z',
    updatedAt: '2026-11-21T00:00:00.000Z',
  };
  answer = ({ path }) =>
    path === '/api/v1/whoami'
      ? { body: { project: { ref: 'proj_own' } } }
      : { body: path.endsWith('/error-rules') ? { data: [rule], ...rule } : rule };
  expect(await errors.rules.list()).toMatchObject([{ id: 'rule_1', createdAt: new Date('2026-11-21') }]);
  await errors.rules.create({ message: 'boom*', groupKey: 'booms' });
  await errors.rules.update('rule_1', { projectRef: 'proj_other', position: 2 });
  await errors.rules.del('rule_1');
  await errors.rules.preview({ type: '*', groupKey: 'all', period: '24h' });
  expect(server.received.map(({ path, body }) => [path, body])).toEqual([
    [expect.stringMatching(/whoami/), undefined],
    ['/api/v1/projects/proj_own/error-rules', undefined],
    ['/api/v1/projects/proj_own/error-rules', { message: 'boom*', groupKey: 'booms' }],
    ['/api/v1/projects/proj_other/error-rules/rule_1', { position: 2 }],
    ['/api/v1/projects/proj_own/error-rules/rule_1', undefined],
    [
      '/api/v1/projects/proj_own/error-rules/preview',
      { type: '*', groupKey: 'all', period: '24h', limit: 1_000 },
    ],
  ]);
});

test('a group is assigned, noted and linked, and the values are removed with null', async () => {
  answer = () => ({ body: { ...group(1), ownership: { owner: '@payments' } } });
  expect(await errors.assign('error_1', '@payments')).toMatchObject({
    lastSeen: new Date('2026-11-21'),
    ownership: { owner: '@payments' },
  });
  await errors.assign({ id: 'error_1' }, null);
  await errors.note('error_1', 'the bank knows');
  await errors.link('error_1', 'https://tracker.example.com/PAY-17');
  expect(server.received.map(({ method, path, body }) => [method, path, body])).toEqual([
    ['POST', '/api/v1/errors/error_1/assign', { assignee: '@payments' }],
    ['POST', '/api/v1/errors/error_1/assign', { assignee: null }],
    ['POST', '/api/v1/errors/error_1/note', { note: 'the bank knows' }],
    ['POST', '/api/v1/errors/error_1/link', { ticketUrl: 'https://tracker.example.com/PAY-17' }],
  ]);
});

test('an invalid group is rejected before a request', async () => {
  await expect(errors.retrieve('')).rejects.toThrow(/error_/);
  await expect(errors.resolve(undefined as never)).rejects.toThrow(/error_/);
  expect(server.received).toHaveLength(0);
});

test('versions have their times as dates', async () => {
  const introducedIn = { version: '20261121.2', previous: '20261121.1' };
  const times = { firstSeen: '2026-11-20T00:00:00.000Z', lastSeen: '2026-11-21T00:00:00.000Z' };
  answer = () => ({ body: { introducedIn, data: [{ version: '20261121.2', count: 3, ...times }] } });
  expect(await errors.versions({ id: 'error_1' })).toEqual({
    introducedIn,
    data: [
      {
        version: '20261121.2',
        count: 3,
        firstSeen: new Date(times.firstSeen),
        lastSeen: new Date(times.lastSeen),
      },
    ],
  });
  expect(server.received[0]?.path).toBe('/api/v1/errors/error_1/versions');
});
