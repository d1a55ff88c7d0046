import { expect, test } from 'vitest';
import {
  actsForUser,
  browserRole,
  isAtLeast,
  presets,
  roles,
  scopesOfPreset,
  type Access,
} from './access.ts';

test('a role includes the permissions of the lower roles', () => {
  for (const [at, role] of roles.entries()) {
    expect(roles.filter((least) => isAtLeast(role, least))).toEqual(roles.slice(0, at + 1));
  }
});

test('only full includes all scopes; the other presets include those of their name', () => {
  expect(presets.filter((preset) => scopesOfPreset(preset)?.includes('admin'))).toEqual(['full']);
  const writing = presets.filter((preset) =>
    scopesOfPreset(preset)?.some((scope) => scope.startsWith('write:')),
  );
  expect(writing).toEqual(['task-operator', 'operator', 'variables-only']);
  expect(scopesOfPreset('variables-only')).toEqual(['read:envvars', 'write:envvars']);
});

test('two presets can be restricted to tasks, and then cover only these tasks', () => {
  const restricted = presets.filter((preset) => scopesOfPreset(preset, ['a']) !== undefined);
  expect(restricted).toEqual(['trigger-only', 'task-operator']);
  expect(scopesOfPreset('trigger-only', ['a', 'b:c'])).toEqual([
    'trigger:tasks:a',
    'batchTrigger:tasks:a',
    'trigger:tasks:b:c',
    'batchTrigger:tasks:b:c',
  ]);
  for (const scope of scopesOfPreset('task-operator', ['a']) ?? []) expect(scope).toMatch(/^\w+:tasks:a$/);
});

test('a browser session requires the role derived from the access rule of an operation, or its explicit role', () => {
  const onRuns = { secretKey: true, on: 'runs' } as const;
  const cases: readonly (readonly [Access, string | false, boolean])[] = [
    [{ ...onRuns, action: 'read' }, 'viewer', false],
    [{ ...onRuns, action: 'write' }, 'member', false],
    [{ ...onRuns, action: 'trigger', publicToken: true, oneTime: true }, 'member', false],
    [{ ...onRuns, action: 'deploy' }, 'member', false],
    [{ ...onRuns, action: 'admin' }, 'admin', false],
    [{ secretKey: true }, 'admin', false],
    [{ ...onRuns, action: 'read', browser: false }, false, false],
    // It grants nothing beyond the caller's scopes, and a browser session has no scopes to pass on.
    [{ secretKey: true, anyScope: true }, false, false],
    [{ publicToken: true, action: 'read', on: 'runs' }, false, true],
    [{ personalAccessToken: true }, 'own', true],
    [{ personalAccessToken: true, role: 'admin' }, 'admin', true],
    [
      { secretKey: true, personalAccessToken: true, role: 'viewer', action: 'read', on: 'envvars' },
      'viewer',
      true,
    ],
    [{ personalAccessToken: true, browser: false }, false, true],
    [{ browser: 'own' }, 'own', true],
    [{ open: true }, false, true],
  ];
  expect(cases.map(([access]) => [browserRole(access), actsForUser(access)])).toEqual(
    cases.map(([, role, forUser]) => [role, forUser]),
  );
});
