import { expect, test } from 'vitest';
import { allowsPlatform, isNamedFor } from './platform-fit.ts';

test.each([
  ['@img/sharp-linux-x64', 'linux-x64-glibc', true],
  ['@img/sharp-linuxmusl-x64', 'linux-x64-glibc', false],
  ['@img/sharp-linuxmusl-x64', 'linux-x64-musl', true],
  ['@node-rs/crc32-linux-x64-gnu', 'linux-x64-glibc', true],
  ['@node-rs/crc32-linux-x64-gnu', 'linux-x64-musl', false],
  ['@node-rs/crc32-linux-x64-gnu', 'linux-arm64-glibc', false],
  ['@parcel/watcher-linux-arm64-glibc', 'linux-arm64-glibc', true],
  ['@resvg/resvg-js-win32-x64-msvc', 'win32-x64', true],
  ['@esbuild/darwin-arm64', 'darwin-arm64', true],
  ['fsevents', 'darwin-arm64', false],
])('%s as the build for %s: %s', (name, platform, isFor) => {
  expect(isNamedFor(name, platform)).toBe(isFor);
});

test.each([
  [{}, true],
  [{ os: ['linux'], cpu: ['x64'] }, true],
  [{ os: 'linux' }, true],
  [{ os: ['!win32'] }, true],
  [{ os: ['!linux'] }, false],
  [{ cpu: ['arm64'] }, false],
  [{ os: ['linux'], libc: ['musl'] }, false],
])('a package with %j allows linux-x64-glibc: %s', (limits, isAllowed) => {
  expect(allowsPlatform(limits, 'linux-x64-glibc')).toBe(isAllowed);
});
