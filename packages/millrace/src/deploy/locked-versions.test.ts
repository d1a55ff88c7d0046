import { expect, test } from 'vitest';
import { lockedVersions } from './locked-versions.ts';

const pnpm9 = `lockfileVersion: '9.0'

importers:

  .:
    dependencies:
      sharp:
        specifier: ^0.34.0
        version: 0.34.5

packages:

  '@img/sharp-linux-x64@0.34.5':
    resolution: {integrity: sha512-x==}
    cpu: [x64]

  sharp@0.34.5:
    resolution: {integrity: sha512-x==}

  packed@file:packed-2.0.0.tgz:
    resolution: {integrity: sha512-x==, tarball: file:packed-2.0.0.tgz}
    version: 2.0.0

  folder@file:folder:
    resolution: {directory: folder, type: directory}

snapshots:

  other@1.0.0: {}
`;

const pnpm6 = `lockfileVersion: '6.0'

packages:

  /@img/sharp-linux-x64@0.34.5:
    resolution: {integrity: sha512-x==}

  /sharp@0.34.5(peer@1.0.0):
    resolution: {integrity: sha512-x==}

  file:packed-2.0.0.tgz:
    resolution: {integrity: sha512-x==, tarball: file:packed-2.0.0.tgz}
    name: packed
    version: 2.0.0

  file:folder:
    resolution: {directory: folder, type: directory}
    name: folder
`;

const yarn1 = `# yarn lockfile v1


"@img/sharp-linux-x64@0.34.5":
  version "0.34.5"
  resolved "https://registry.example/x.tgz#0"

"picture@npm:sharp@^0.34.0", sharp@^0.34.0:
  version "0.34.5"
  optionalDependencies:
    "@img/sharp-linux-x64" "0.34.5"

"packed@file:packed-2.0.0.tgz":
  version "2.0.0"
`;

const berry = `__metadata:
  version: 8
  cacheKey: 10c0

"@img/sharp-linux-x64@npm:0.34.5":
  version: 0.34.5
  resolution: "@img/sharp-linux-x64@npm:0.34.5"
  conditions: os=linux & cpu=x64
  languageName: node

"picture@npm:sharp@^0.34.0":
  version: 0.34.5
  resolution: "sharp@npm:0.34.5"

"packed@file:packed-2.0.0.tgz::locator=app%40workspace%3A.":
  version: 2.0.0
  resolution: "packed@file:packed-2.0.0.tgz#packed-2.0.0.tgz::hash=1&locator=app%40workspace%3A."
`;

const bun = `{
  "lockfileVersion": 1,
  "packages": {
    "@img/sharp-linux-x64": ["@img/sharp-linux-x64@0.34.5", "", { "os": "linux", "cpu": "x64" }, "sha512-x=="],

    "picture": ["sharp@0.34.5", "", {}, "sha512-x=="],

    "packed": ["packed@packed-2.0.0.tgz", {}],
  }
}
`;

test.each([
  ['pnpm-lock.yaml', pnpm9],
  ['pnpm-lock.yaml', pnpm6],
  ['yarn.lock', yarn1],
  ['yarn.lock', berry],
  ['bun.lock', bun],
])('%s contains names and versions of its packages', (name, text) => {
  const locked = lockedVersions(name, text);
  expect(locked?.has('sharp', '0.34.5')).toBe(true);
  expect(locked?.has('@img/sharp-linux-x64', '0.34.5')).toBe(true);
  expect(locked?.has('packed', '2.0.0')).toBe(true);
  expect(locked?.has('sharp', '0.34.4')).toBe(false);
  expect(locked?.hasAny('sharp')).toBe(true);
  expect(locked?.hasAny('other')).toBe(false);
});

test('an entry without a version has any version', () => {
  for (const text of [pnpm9, pnpm6])
    expect(lockedVersions('pnpm-lock.yaml', text)?.has('folder', '7.0.0')).toBe(true);
  expect(lockedVersions('bun.lock', bun)?.has('packed', '7.0.0')).toBe(true);
});

test('formats of old releases are unknown', () => {
  expect(lockedVersions('pnpm-lock.yaml', 'lockfileVersion: 5.4\n')).toBeUndefined();
  expect(lockedVersions('bun.lockb', '')).toBeUndefined();
});
