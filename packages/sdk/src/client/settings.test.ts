import { describe, expect, test } from 'vitest';
import { ConfigurationError, resolveSettings, type ClientSettings } from './settings.ts';

const variables = { MILLRACE_API_URL: 'http://localhost:1', MILLRACE_SECRET_KEY: 'svc_dev_1' };
const refusal = (settings: ClientSettings, from: Record<string, string> = variables) => {
  try {
    resolveSettings(settings, from);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigurationError);
    return (error as Error).message;
  }
  return expect.fail('nothing was refused');
};

describe('resolveSettings', () => {
  test('reads all settings from the environment', () => {
    const settings = resolveSettings({}, { ...variables, MILLRACE_PREVIEW_BRANCH: 'feat/x' });
    expect(settings).toMatchObject({
      baseURL: 'http://localhost:1',
      accessToken: 'svc_dev_1',
      previewBranch: 'feat/x',
    });
    expect(settings.isAmbient).toBe(true);
  });

  test('prefers explicit settings, an access token before a secret key', () => {
    const settings = resolveSettings(
      { baseURL: 'https://x.test/', accessToken: 'a', secretKey: 'b' },
      variables,
    );
    expect(settings).toMatchObject({ baseURL: 'https://x.test', accessToken: 'a', isAmbient: false });
  });

  test('prefers the secret key of the environment to its access token', () => {
    expect(resolveSettings({}, { ...variables, MILLRACE_ACCESS_TOKEN: 'svc_pat_1' }).accessToken).toBe(
      'svc_dev_1',
    );
    const onlyToken = { MILLRACE_API_URL: 'http://x.test', MILLRACE_ACCESS_TOKEN: 'svc_pat_1' };
    expect(resolveSettings({}, onlyToken).accessToken).toBe('svc_pat_1');
  });

  test('keeps a path prefix and trims whitespace around a value', () => {
    const settings = resolveSettings({ baseURL: 'http://x.test/millrace//', secretKey: ' k\n' }, {});
    expect(settings).toMatchObject({ baseURL: 'http://x.test/millrace', accessToken: 'k' });
  });

  test('bridges outages of a minute unless the number of attempts is set', () => {
    const bridged = (retry: ClientSettings['retry']) =>
      resolveSettings({ retry }, variables).retry.maxOutageInMs;
    expect([bridged({}), bridged({ maxAttempts: 2 }), bridged({ maxAttempts: 2, maxOutageInMs: 5 })]).toEqual(
      [60_000, 0, 5],
    );
    for (const maxOutageInMs of [-1, Number.NaN])
      expect(refusal({ retry: { maxOutageInMs } })).toContain('retry.maxOutageInMs');
  });

  test('names the missing variable', () => {
    // Test files share a process. An earlier one may have executed runs in it, where credentials are those of the runs.
    delete (globalThis as Record<symbol, unknown>)[Symbol.for('@millrace/sdk/run-scopes')];
    expect(refusal({}, { MILLRACE_API_URL: 'http://x.test' })).toContain('MILLRACE_SECRET_KEY');
    expect(refusal({}, { MILLRACE_API_URL: 'http://x.test', MILLRACE_SECRET_KEY: '' })).toContain(
      'configure(',
    );
    expect(refusal({}, { MILLRACE_SECRET_KEY: 'k' })).toContain('MILLRACE_API_URL');
  });

  test.each(['localhost:3000', 'ftp://x.test', 'nonsense'])(
    'rejects the address %s and shows it',
    (baseURL) => {
      expect(refusal({ baseURL })).toContain(JSON.stringify(baseURL));
    },
  );

  test('never shows a credential', () => {
    expect(refusal({ secretKey: 'svc_dev_sentinel two' })).not.toContain('sentinel');
    expect(refusal({ baseURL: 'http://me:sentinel@x.test' })).not.toContain('sentinel');
  });
});
