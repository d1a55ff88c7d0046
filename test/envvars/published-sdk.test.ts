import { configure, envvars } from '@trigger.dev/sdk';
import { afterEach, describe, expect, test } from 'vitest';
import { variableServer } from '../../packages/server/src/envvars/testing/variable-server.ts';

/** The published SDK reads a global variable here where it means its argument. */
const named = globalThis as { name?: string };
const update = async (ref: string, env: string, name: string, value: string) => {
  named.name = name;
  return envvars.update(ref, env, name, { value });
};
afterEach(() => delete named.name);

describe.each(['secret key', 'personal access token'])('the published SDK with a %s', (credential) => {
  test('lists, creates, retrieves, updates, uploads and deletes', async () => {
    const served = await variableServer();
    const accessToken = credential === 'secret key' ? served.key('prod').replace(/^svc_/, 'tr_') : served.pat;
    configure({ baseURL: served.server.url, accessToken });
    const { ref } = served;

    expect(await envvars.list(ref, 'prod')).toEqual([]);
    expect(await envvars.create(ref, 'prod', { name: 'A', value: '1' })).toEqual({ success: true });
    expect(await envvars.retrieve(ref, 'prod', 'A')).toEqual({ name: 'A', value: '1', isSecret: false });
    expect(await update(ref, 'prod', 'A', '2')).toEqual({ success: true });
    const variables = { A: '3', B: 'line 1\nline 2' };
    await expect(envvars.upload(ref, 'prod', { variables, override: false })).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('override') as string,
    });
    expect(await envvars.upload(ref, 'prod', { variables, override: true })).toEqual({ success: true });
    // It passes on properties that its types do not have.
    const secret = { name: 'S', value: 'hidden', isSecret: true };
    expect(await envvars.create(ref, 'production', secret)).toEqual({ success: true });
    expect(await envvars.list(ref, 'prod')).toEqual([
      { name: 'A', value: '3', isSecret: false },
      { name: 'B', value: 'line 1\nline 2', isSecret: false },
      { name: 'S', value: '<redacted>', isSecret: true },
    ]);
    expect(await envvars.del(ref, 'prod', 'A')).toEqual({ success: true });
    await expect(envvars.retrieve(ref, 'prod', 'A')).rejects.toMatchObject({ status: 404 });
    await expect(envvars.create(ref, 'prod', { name: '1A', value: 'x' })).rejects.toMatchObject({
      status: 400,
    });
  });

  test('works on the preview branch that it is configured with', async () => {
    const served = await variableServer();
    await served.addBranch('preview', 'feat/x');
    const accessToken = credential === 'secret key' ? served.key('preview') : served.pat;
    const { ref } = served;
    await served.call('POST', 'envvars/preview', { as: served.pat, body: { name: 'A', value: 'parent' } });
    configure({ baseURL: served.server.url, accessToken, previewBranch: 'feat/x' });
    expect(await envvars.list(ref, 'preview')).toEqual([{ name: 'A', value: 'parent', isSecret: false }]);
    await update(ref, 'preview', 'A', 'branch');
    expect(await envvars.retrieve(ref, 'preview', 'A')).toMatchObject({ value: 'branch' });
    await envvars.del(ref, 'preview', 'A');
    expect(await envvars.retrieve(ref, 'preview', 'A')).toMatchObject({ value: 'parent' });
  });
});

test('a personal access token accesses other environments, a key does not', async () => {
  const served = await variableServer();
  configure({ baseURL: served.server.url, accessToken: served.pat });
  await envvars.create(served.ref, 'staging', { name: 'A', value: '1' });
  expect(await envvars.list(served.ref, 'stg')).toHaveLength(1);
  expect(await envvars.list(served.ref, 'development')).toEqual([]);
  await expect(envvars.list('proj_unknown', 'prod')).rejects.toMatchObject({ status: 404 });
  configure({ baseURL: served.server.url, accessToken: served.key('prod') });
  await expect(envvars.list(served.ref, 'staging')).rejects.toMatchObject({ status: 400 });
});
