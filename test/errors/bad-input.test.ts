import { describe, expect, test } from 'vitest';
import { testServer } from '../support/server.ts';
import { sharedServer } from '../support/shared-server.ts';

const unknown = 'error_0000000000000000';

describe('invalid requests about error groups', () => {
  test('name the invalid parameter', async () => {
    const server = await sharedServer();
    for (const [parameter, value] of [
      ['sort', 'newest'],
      ['filter[status]', 'open'],
      ['filter[search]', 'x'.repeat(1_001)],
      ['filter[from]', '2026-13-40'],
      ['filter[to]', 'now'],
      ['filter[period]', '7'],
      ['page[size]', '-1'],
      ['page[after]', 'nonsense'],
      ['page[before]', unknown],
    ] as const) {
      const { status, body } = await server.ask(
        `/api/v1/errors?${encodeURIComponent(parameter)}=${encodeURIComponent(value)}`,
      );
      expect([parameter, status]).toEqual([parameter, 400]);
      expect(body).toEqual({
        error: 'Query Error',
        details: [
          expect.objectContaining({
            code: expect.any(String),
            message: expect.any(String),
            path: [parameter],
          }),
        ],
      });
    }
    const search = await server.ask(
      '/api/v1/errors?filter%5Bsearch%5D=a%00b&filter%5BtaskIdentifier%5D=%ed%a0%80',
    );
    expect(search).toMatchObject({ status: 200, body: { data: [], pagination: {} } });
  });

  test('get 404 for malformed and for unknown ids, in every operation', async () => {
    const server = await sharedServer();
    const bodies = {
      resolve: {},
      ignore: {},
      unresolve: undefined,
      merge: { errors: [unknown] },
      split: { fingerprints: ['x'] },
      assign: { assignee: '@a' },
      note: { note: 'x' },
      link: { ticketUrl: null },
    };
    const long = `error_${'0'.repeat(1_000)}`;
    for (const id of [unknown, 'error_1', 'nonsense', 'error_0000_00000000000', 'a%00b', '..%2f..', long]) {
      for (const path of ['', '/fingerprints', '?trend=24h']) {
        const { status, body } = await server.ask(`/api/v1/errors/${id}${path}`);
        expect([id, path, status, body]).toEqual([id, path, 404, { error: 'Not found' }]);
      }
      for (const [act, body] of Object.entries(bodies)) {
        const answer = await server.ask(`/api/v1/errors/${id}/${act}`, { method: 'POST', body });
        expect([id, act, answer.status]).toEqual([id, act, 404]);
      }
    }
  });

  test('get 400 with a message for an empty, malformed or invalid body', async () => {
    const server = await testServer();
    for (const act of ['resolve', 'ignore', 'merge', 'split', 'assign', 'note', 'link']) {
      const path = `/api/v1/errors/${unknown}/${act}`;
      const post = async (body: unknown) => (await server.ask(path, { method: 'POST', body })).body.error;
      expect([act, await post('')]).toEqual([act, 'Request body is empty']);
      expect([act, await post('{"a":')]).toEqual([act, 'Invalid JSON']);
    }
    for (const [act, body, what] of [
      ['resolve', { resolvedInVersion: 7 }, 'resolvedInVersion'],
      ['resolve', { resolvedInVersion: 'a\u0000' }, 'resolvedInVersion'],
      ['resolve', { resolvedInVersion: 'x'.repeat(129) }, 'resolvedInVersion'],
      ['ignore', { duration: 0 }, 'duration'],
      ['ignore', { duration: 1.5 }, 'duration'],
      ['ignore', { occurrenceRate: -1 }, 'occurrenceRate'],
      ['ignore', { totalOccurrences: 1e300 }, 'totalOccurrences'],
      ['ignore', { reason: 'x'.repeat(1_001) }, 'reason'],
      ['merge', { errors: [] }, 'errors'],
      ['merge', { errors: 'all' }, 'errors'],
      ['merge', { errors: Array.from({ length: 101 }, () => unknown) }, 'errors'],
      ['assign', {}, 'assignee'],
      ['assign', { assignee: '' }, 'assignee'],
      ['assign', { assignee: 'x'.repeat(10_240) }, 'assignee'],
      ['assign', { assignee: '@a\u0007' }, 'assignee'],
      ['assign', { assignee: '@a\ud800' }, 'assignee'],
      ['note', { note: '' }, 'note'],
      ['note', { note: 'x'.repeat(2_001) }, 'note'],
      ['note', { note: 'a\u0000' }, 'note'],
      ['note', { note: 'a\ud800' }, 'note'],
      ['link', { ticketUrl: 'javascript:alert(1)' }, 'ticketUrl'],
      ['link', { ticketUrl: ' JavaScript:alert(1)' }, 'ticketUrl'],
      ['link', { ticketUrl: 'data:text/html,x' }, 'ticketUrl'],
      ['link', { ticketUrl: 'https://user:secret@example.com/' }, 'ticketUrl'],
      ['link', { ticketUrl: 'PAY-17' }, 'ticketUrl'],
      ['link', { ticketUrl: `https://example.com/${'x'.repeat(2_048)}` }, 'ticketUrl'],
      ['split', {}, 'fingerprints'],
      ['split', { fingerprints: ['a\u0000'] }, 'fingerprints'],
    ] as const) {
      const answer = await server.ask(`/api/v1/errors/${unknown}/${act}`, { method: 'POST', body });
      expect([act, answer.status, answer.body.error]).toEqual([act, 400, expect.stringContaining(what)]);
    }
    expect((await server.ask(`/api/v1/errors/${unknown}/resolve`)).status).toBe(405);
    expect(server.logged.filter((line) => line.includes('request.failed'))).toEqual([]);
  });
});
