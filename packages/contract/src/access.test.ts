import { expect, test } from 'vitest';
import { isAtLeast, presets, roles, scopesOfPreset } from './access.ts';

test('a role may do what the ones before it may', () => {
  for (const [at, role] of roles.entries()) {
    expect(roles.filter((least) => isAtLeast(role, least))).toEqual(roles.slice(0, at + 1));
  }
});

test('only full holds everything; the others hold what their name says', () => {
  expect(presets.filter((preset) => scopesOfPreset(preset)?.includes('admin'))).toEqual(['full']);
  const writing = presets.filter((preset) =>
    scopesOfPreset(preset)?.some((scope) => scope.startsWith('write:')),
  );
  expect(writing).toEqual(['task-operator', 'operator', 'variables-only']);
  expect(scopesOfPreset('variables-only')).toEqual(['read:envvars', 'write:envvars']);
});

test('two presets can be restricted to tasks, and hold nothing but these tasks then', () => {
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
