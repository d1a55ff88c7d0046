/** Every error response has a code of the contract's list in `x-millrace-error-code`. docs/error-codes.md contains that list. */
import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCodes } from '@millrace/contract';
import { expect, test } from 'vitest';
import { repository } from '../cli/command.ts';
import { sharedServer } from '../support/shared-server.ts';
import type { AskOptions } from '../support/server.ts';

const head = `# Error codes

<!-- Generated from packages/contract/src/error-codes.ts by test/http/error-codes.test.ts. -->

Every error response of the API contains a code in the header \`x-millrace-error-code\`. SDK errors have it as \`error.code\`. Use the code in
programs instead of the message, which may change. [Troubleshooting](troubleshooting.md) explains messages and their remedies.

A newer server may return additional codes: handle an unknown code according to its status.

| Code | Status | Meaning |
|---|---|---|
`;

test('the documentation lists the codes', async () => {
  const rows = Object.entries(errorCodes).map(
    ([code, { statuses, meaning }]) => `| \`${code}\` | ${statuses.join(', ')} | ${meaning} |`,
  );
  await expect(`${head}${rows.join('\n')}\n`).toMatchFileSnapshot(join(repository, 'docs/error-codes.md'));
});

test('the server sends each code of the list', async () => {
  const unsent = new Set<string>(Object.keys(errorCodes));
  for await (const file of glob('packages/server/src/**/*.ts', { cwd: repository })) {
    if (file.endsWith('.test.ts')) continue;
    for (const [, code = ''] of (await readFile(join(repository, file), 'utf8')).matchAll(/'([a-z_]+)'/g))
      unsent.delete(code);
  }
  expect([...unsent]).toEqual([]);
});

test('each kind of failure has its code', async () => {
  const { ask, keys, personalAccessToken: token } = await sharedServer();
  const code = async (path: string, options: AskOptions = {}): Promise<string | null> =>
    (await ask(path, options)).headers.get('x-millrace-error-code');
  const trigger = '/api/v1/tasks/send/trigger';
  const post = (body: unknown): AskOptions => ({ method: 'POST', body });
  expect(await code('/api/v1/runs')).toBeNull();
  expect(await code('/api/v1/nothing')).toBe('route_not_found');
  expect(await code('/api/v1/runs', { method: 'DELETE' })).toBe('method_not_allowed');
  expect(await code('/api/v1/runs', { key: '' })).toBe('invalid_credential');
  expect(await code('/api/v1/runs', { key: `${keys.prod}x` })).toBe('invalid_credential');
  expect(await code('/api/v1/orgs')).toBe('credential_not_accepted');
  expect(await code('/api/v1/runs', { key: keys.preview })).toBe('branch_required');
  const headers = { 'x-service-branch': 'none' };
  expect(await code('/api/v1/runs', { key: keys.preview, headers })).toBe('branch_not_found');
  expect(await code('/api/v1/orgs/org_none/members', { key: token })).toBe('organization_not_found');
  expect(await code('/api/v3/runs/run_none')).toBe('run_not_found');
  expect(await code('/api/v1/errors/error_none')).toBe('not_found');
  expect(await code('/api/v1/deployments/current')).toBe('no_current_version');
  expect(await code('/api/v1/deployments/20260101.1')).toBe('version_not_found');
  expect(await code(trigger, post('{'))).toBe('invalid_request');
  expect(await code(trigger, post({ options: { tags: 7 } }))).toBe('invalid_request');
  expect(await code(trigger, post({ options: { lockToVersion: 'none' } }))).toBe('version_not_found');
  expect(await code(trigger, post({ payload: 'x'.repeat(4_000_000) }))).toBe('too_large');
});

test('browsers can read the code', async () => {
  const { headers } = await (await sharedServer()).ask('/api/v3/runs/run_none');
  expect(headers.get('access-control-expose-headers')).toContain('x-millrace-error-code');
});
