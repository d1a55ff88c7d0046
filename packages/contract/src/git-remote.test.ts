import { expect, test } from 'vitest';
import { webAddressOfRemote } from './git-remote.ts';

test.each([
  ['git@github.com:acme/shop.git', 'https://github.com/acme/shop'],
  ['github.com:acme/shop', 'https://github.com/acme/shop'],
  ['https://github.com/acme/shop.git', 'https://github.com/acme/shop'],
  ['https://user:secret@gitlab.com/acme/group/shop.git/', 'https://gitlab.com/acme/group/shop'],
  ['https://x-access-token:secret@github.com/acme/shop', 'https://github.com/acme/shop'],
  ['ssh://git@GitLab.example.com:2222/acme/shop.git', 'https://gitlab.example.com/acme/shop'],
  ['http://git.example.com:8080/shop?token=secret#x', 'https://git.example.com/shop'],
])('the web address of %s has no credentials', (remote, address) => {
  expect(webAddressOfRemote(remote)).toBe(address);
});

test.each([
  '',
  '/srv/git/shop.git',
  '../shop',
  'file:///srv/shop.git',
  'C:\\shop',
  'javascript:alert(1)',
  'https://',
  'https://github.com/',
])('%j has no web address', (remote) => {
  expect(webAddressOfRemote(remote)).toBeUndefined();
});
