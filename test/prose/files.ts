import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export const repository = fileURLToPath(new URL('../../', import.meta.url));

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
