import { expect, test } from 'vitest';
import { commitsUrl } from './commits-url.ts';

const [before, after] = ['a'.repeat(40), 'b'.repeat(40)];
const between = (remote: string | undefined) =>
  commitsUrl({ commit: before }, { commit: after, ...(remote !== undefined && { remote }) });

test.each([
  ['https://github.com/acme/shop', `https://github.com/acme/shop/compare/${before}...${after}`],
  ['https://gitlab.com/acme/shop', `https://gitlab.com/acme/shop/-/compare/${before}...${after}`],
  [
    'https://gitlab.example.com/acme/shop',
    `https://gitlab.example.com/acme/shop/-/compare/${before}...${after}`,
  ],
  [
    'https://bitbucket.org/acme/shop',
    `https://bitbucket.org/acme/shop/branches/compare/${after}%0D${before}`,
  ],
  ['https://codeberg.org/acme/shop', `https://codeberg.org/acme/shop/compare/${before}...${after}`],
])('the commits of %s have a page', (remote, url) => {
  expect(between(remote)).toBe(url);
});

test.each([
  undefined,
  'https://example.com/acme/shop',
  'javascript:alert(1)//github.com/',
  'http://github.com/acme/shop',
  'constructor',
  'https://constructor/acme/shop',
])('those of %s have none', (remote) => {
  expect(between(remote)).toBeNull();
});

test('unknown, equal and foreign commits have no page', () => {
  const remote = 'https://github.com/acme/shop';
  expect(commitsUrl(undefined, { commit: after, remote })).toBeNull();
  expect(commitsUrl({ commit: after, remote }, { commit: after, remote })).toBeNull();
  expect(commitsUrl({ commit: '../../evil', remote }, { commit: after, remote })).toBeNull();
  expect(commitsUrl({ commit: before, remote: `${remote}-fork` }, { commit: after, remote })).toBeNull();
  expect(commitsUrl({ commit: before, remote }, { commit: after })).toBe(
    `${remote}/compare/${before}...${after}`,
  );
});
