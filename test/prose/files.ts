import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export const repository = fileURLToPath(new URL('../../', import.meta.url));

/** Parts of the repository that are counted separately. */
export const areas = ['docs', 'decisions', 'source', 'dashboard', 'sql', 'tests'] as const;
export type Area = (typeof areas)[number];

export function areaOf(path: string): Area {
  if (path.startsWith('docs/decisions/')) return 'decisions';
  if (path.endsWith('.md')) return 'docs';
  if (path.endsWith('.sql')) return 'sql';
  if (/\.test\.tsx?$|(?:^|\/)(?:test|testing)\//.test(path)) return 'tests';
  return path.startsWith('packages/dashboard/') ? 'dashboard' : 'source';
}

/** Text of others, data, and the examples of this check. */
const excluded =
  /^(?:CODE_OF_CONDUCT\.md|test\/published-tasks\/fixture\/|test\/prose\/|packages\/fingerprint\/src\/message\/(?:random|vocabulary)\.ts$)|\/corpus\/|\/\.millrace\/|(?:^|\/)next-env\.d\.ts$/;

/** Files with text that we write: committed ones and new ones that are not ignored. */
export const files = (): string[] =>
  execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '--deduplicate'], {
    cwd: repository,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  })
    .split('\n')
    .filter((path) => /\.(?:md|tsx?|sql)$/.test(path) && !excluded.test(path));
