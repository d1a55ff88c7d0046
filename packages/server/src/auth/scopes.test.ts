import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { allows, grants, isUnrestricted, parseScope } from './scopes.ts';
import { numRuns } from '../../../../test/support/long.ts';

const isAllowed = (scope: string, action: string, type: string, id?: string) =>
  allows([scope], action, [{ type, ...(id !== undefined && { id }) }]);

test('only the first two colons separate', () => {
  expect(parseScope('read:tags:org:42')).toEqual({ action: 'read', type: 'tags', id: 'org:42' });
  expect(parseScope('read:runs')).toEqual({ action: 'read', type: 'runs' });
  expect(parseScope('admin')).toEqual({ action: 'admin' });
  expect(isAllowed('read:tags:org:42', 'read', 'tags', 'org:42')).toBe(true);
  expect(isAllowed('read:tags:org:42', 'read', 'tags', 'org')).toBe(false);
});

test.each<[scope: string, action: string, type: string, id: string | undefined, allowed: boolean]>([
  ['admin', 'write', 'envvars', undefined, true],
  ['admin:runs', 'read', 'runs', undefined, false],
  ['admin:sessions', 'admin', 'sessions', 's', true],
  ['*:runs', 'write', 'runs', 'r', true],
  ['*:runs', 'write', 'tasks', 't', false],
  ['read:all', 'read', 'errors', undefined, true],
  ['read:all', 'write', 'errors', undefined, false],
  ['read:runs', 'read', 'runs', 'r', true],
  ['read:runs:r', 'read', 'runs', undefined, false],
  ['read:runs:r', 'read', 'runs', 'r', true],
  ['read:runs:r', 'read', 'runs', 'r2', false],
  ['read:runs:*', 'read', 'runs', 'r', false],
  ['read:runs:', 'read', 'runs', undefined, false],
  ['read:runs:', 'read', 'runs', 'r', false],
  ['write:tasks:x', 'trigger', 'tasks', 'x', true],
  ['write:tasks:x', 'batchTrigger', 'tasks', 'x', true],
  ['write:tasks:x', 'update', 'tasks', 'x', true],
  ['trigger:tasks:x', 'write', 'tasks', 'x', false],
  ['write:runs', 'read', 'runs', 'r', false],
  ['read:runs', 'write', 'runs', 'r', false],
  ['write:runs', 'admin', 'runs', 'r', false],
  ['read', 'read', 'runs', undefined, false],
  ['*', 'read', 'runs', undefined, false],
  ['', 'read', 'runs', undefined, false],
  [':', 'read', 'runs', undefined, false],
])('%s against %s %s %s is %s', (scope, action, type, id, allowed) => {
  expect(isAllowed(scope, action, type, id)).toBe(allowed);
});

test('one of the identities of an object is enough', () => {
  const run = [
    { type: 'runs', id: 'run_1' },
    { type: 'tasks', id: 'echo' },
    { type: 'tags', id: 'org:42' },
  ];
  expect(allows(['read:tags:org:42'], 'read', run)).toBe(true);
  expect(allows(['read:tags:org:43', 'read:runs:run_2'], 'read', run)).toBe(false);
  expect(allows(['read:runs'], 'read', [])).toBe(false);
  expect(allows([], 'read', run)).toBe(false);
});

test('a key is restricted if and only if it lacks the literal admin', () => {
  expect(isUnrestricted(['read:runs', 'admin'])).toBe(true);
  expect(isUnrestricted(['admin:all', '*:all'])).toBe(false);
});

const action = fc.constantFrom('read', 'write', 'trigger', 'batchTrigger', 'update', 'admin', '*');
const type = fc.constantFrom('runs', 'tasks', 'tags', 'all');
const id = fc.constantFrom('a', 'b', 'a:b', '', ':');
const scope = fc.oneof(
  fc.constant('admin'),
  action,
  fc.tuple(action, type).map((parts) => parts.join(':')),
  fc.tuple(action, type, id).map((parts) => parts.join(':')),
  fc.string(),
);
const need = fc.record({
  action: fc.constantFrom('read', 'write', 'trigger', 'batchTrigger', 'update', 'admin'),
  identity: fc.record(
    { type: fc.constantFrom('runs', 'tasks', 'tags'), id: fc.constantFrom('a', 'b', 'a:b') },
    { requiredKeys: ['type'] },
  ),
});

test('a granted scope never exceeds the permissions of its grantor', () => {
  fc.assert(
    fc.property(
      fc.array(scope, { maxLength: 4 }),
      scope,
      need,
      (granted, requested, { action: verb, identity }) => {
        fc.pre(grants(granted, requested));
        expect(!allows([requested], verb, [identity]) || allows(granted, verb, [identity])).toBe(true);
      },
    ),
    { numRuns: numRuns(3_000) },
  );
});

test('every caller may grant its own scopes that name a type', () => {
  fc.assert(
    fc.property(action, type, fc.option(id, { nil: undefined }), (verb, on, pinned) => {
      const granted = [verb, on, ...(pinned === undefined ? [] : [pinned])].join(':');
      expect(grants([granted], granted)).toBe(true);
    }),
  );
});

test('a scope with an id never covers a collection', () => {
  fc.assert(
    fc.property(action, type, id, need, (verb, on, pinned, { action: neededAction, identity }) => {
      expect(allows([`${verb}:${on}:${pinned}`], neededAction, [{ type: identity.type }])).toBe(false);
    }),
  );
});
