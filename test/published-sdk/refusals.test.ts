import type * as Published from '@trigger.dev/sdk';
import { describe, expect, test } from 'vitest';
import type { RateLimits } from '../../packages/server/src/http/rate-limit.ts';
import { testServer, type TestServer } from '../support/server.ts';
import { versions } from './each-version.ts';

type PublishedSdk = typeof Published;

/** The class that is thrown for each rejection. Callers distinguish them with `instanceof`. */
const refusals: readonly (readonly [
  name: 'BadRequestError' | 'NotFoundError' | 'UnprocessableEntityError',
  says: RegExp,
  call: (sdk: PublishedSdk) => Promise<unknown>,
])[] = [
  ['BadRequestError', /options\.delay/, (sdk) => sdk.tasks.trigger('send', 1, { delay: 'soon' })],
  ['NotFoundError', /not found/i, (sdk) => sdk.runs.cancel('run_none')],
  ['NotFoundError', /not found/i, (sdk) => sdk.schedules.retrieve('sched_none')],
  [
    'UnprocessableEntityError',
    /at most 10 tags/,
    (sdk) => sdk.tasks.trigger('send', 1, { tags: Array.from({ length: 11 }, (_, n) => `t${n}`) }),
  ],
  [
    'UnprocessableEntityError',
    /19990101\.1/,
    (sdk) => sdk.tasks.trigger('send', 1, { version: '19990101.1' }),
  ],
];

describe.each(versions)('the published SDK %s', (version, load) => {
  // The members in use have had the same types since 4.0.
  const start = async (rateLimits?: RateLimits): Promise<[sdk: PublishedSdk, server: TestServer]> => [
    (await load()) as PublishedSdk,
    await testServer({ rateLimits }),
  ];

  test('throws the class of each rejection, with the message of the server', async () => {
    const [sdk, { url: baseURL, keys }] = await start();
    const thrown = (accessToken: string, call: () => Promise<unknown>) =>
      sdk.auth.withAuth({ baseURL, accessToken }, () => call().catch((error: unknown) => error));
    for (const [name, says, call] of refusals) {
      const error = await thrown(keys.prod, () => call(sdk));
      expect([name, error]).toEqual([name, expect.any(sdk[name])]);
      expect(error).toMatchObject({ message: expect.stringMatching(says) as string });
      expect(error).toBeInstanceOf(sdk.ApiError);
    }
    expect(await thrown('tr_prod_nonsense', () => sdk.runs.list())).toBeInstanceOf(sdk.AuthenticationError);
    const token = await sdk.auth.withAuth({ baseURL, accessToken: keys.prod }, () =>
      sdk.auth.createPublicToken({ scopes: { read: { runs: 'run_1' } } }),
    );
    expect(await thrown(token, () => sdk.runs.list())).toBeInstanceOf(sdk.PermissionDeniedError);
  });

  test(
    'receives the rejection of a too large payload while it is still sending',
    { timeout: 60_000 },
    async () => {
      const [sdk, { url: baseURL, keys }] = await start();
      // One attempt: a broken connection would be thrown as such.
      const requestOptions = { retry: { maxAttempts: 1 } };
      const payload = { text: 'x'.repeat(30_000_000) };
      const refused = await sdk.auth.withAuth({ baseURL, accessToken: keys.prod, requestOptions }, () =>
        sdk.tasks.trigger('send', payload).catch((error: unknown) => error),
      );
      expect([version, refused]).toMatchObject([version, { status: 413 }]);
    },
  );

  test('receives a request to retry later, and retries', { timeout: 30_000 }, async () => {
    const [sdk, { url: baseURL, keys }] = await start({ publicToken: { burst: 5, perSecond: 1 } });
    const { id, publicAccessToken: token } = await sdk.auth.withAuth(
      { baseURL, accessToken: keys.prod },
      () => sdk.tasks.trigger('send', 1),
    );
    await sdk.auth.withAuth({ baseURL, accessToken: token }, async () => {
      const once = { retry: { maxAttempts: 1 } };
      const calls = Array.from({ length: 30 }, () =>
        sdk.runs.retrieve(id, once).catch((error: unknown) => error),
      );
      const limited = (await Promise.all(calls)).filter((result) => result instanceof sdk.RateLimitError);
      expect(limited.length).toBeGreaterThan(0);
      expect((await sdk.runs.retrieve(id)).id).toBe(id);
    });
  });
});
