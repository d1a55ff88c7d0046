/** The TypeScript blocks of the documentation: their locations, and the errors of compiling them with the built packages. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { firstProject } from '@millrace/template';
import { repository } from '../cli/command.ts';

export interface CodeBlock {
  /** Path of the page in the repository. */
  readonly page: string;
  /** Line of the page before the first line of `code`, counted from 1. */
  readonly line: number;
  readonly language: string;
  /** Path of the file that the block shows, in the project of the page. */
  readonly file?: string;
  /** Whether it is in a comment: code that readers already have and need not see. */
  readonly isHidden: boolean;
  readonly code: string;
}

/** Fenced blocks, and comments that begin with `ts`. Code of other systems is `typescript`. */
const pattern =
  /(?:`([\w/.-]+\.[jt]sx?)`:\n\n|^)(?:```(tsx?|js)\n([\s\S]*?)^```$|<!-- (tsx?)\n([\s\S]*?)^-->$)/gm;

/** The code of a page. A block is a file if its first line is `// path.ts`, or if a line with `path.ts`: comes before it. */
export function codeBlocks(page: string, markdown: string): CodeBlock[] {
  const found = [...markdown.matchAll(pattern)];
  const begun = [...markdown.matchAll(/^ *(?:```|<!-- )tsx?\b/gm)].length;
  if (
    begun !== found.filter(([, , language, , hiddenLanguage]) => (language ?? hiddenLanguage) !== 'js').length
  )
    throw new Error(
      `${page} has a block of TypeScript that is indented, not closed or begun with more than its language.`,
    );
  return found.map((match) => {
    const [all, above, language, visible, hiddenLanguage, hidden] = match;
    const code = visible ?? hidden ?? '';
    const file = above ?? /^\/\/ ([\w/.-]+\.[jt]sx?)\n/.exec(code)?.[1];
    const start = match.index + all.lastIndexOf(code === '' ? '\n' : code);
    return {
      page,
      line: markdown.slice(0, start).split('\n').length - 1,
      language: language ?? hiddenLanguage ?? '',
      ...(file !== undefined && { file }),
      isHidden: hidden !== undefined,
      code,
    };
  });
}

/** The files of another system that a page shows: blocks of `typescript` that begin with `// path.ts`. */
export const peerBlocks = (page: string, markdown: string): CodeBlock[] =>
  [...markdown.matchAll(/^```typescript\n(\/\/ ([\w/.-]+\.ts)\n[\s\S]*?)^```$/gm)].map(
    ({ index, 1: code = '', 2: file = '' }) => ({
      page,
      line: markdown.slice(0, index).split('\n').length,
      language: 'ts',
      file,
      isHidden: false,
      code,
    }),
  );

/**
 * The compiler errors of these blocks, as `page:line: message`. Each page is a project, in which blocks without a file name
 * are separate modules. Code in comments without a file name is prepended to each later block of its page.
 */
export async function typeErrors(
  blocks: readonly CodeBlock[],
  modules = join(repository, 'test/modules/node_modules'),
): Promise<string[]> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'millrace-code-')));
  try {
    const places = new Map<string, { readonly block: CodeBlock; readonly above: number }>();
    const write = async (path: string, text: string) => {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), text);
    };
    const preludes = new Map<string, string>();
    for (const block of blocks) {
      const { page, line, language, file, isHidden, code } = block;
      const before = file === undefined ? (preludes.get(page) ?? '') : '';
      if (isHidden && file === undefined) preludes.set(page, before + code);
      const path = join(page, file ?? `line-${line}.${language}`);
      if (places.has(path)) throw new Error(`${page}:${line}: the page shows ${file} twice.`);
      places.set(path, { block, above: before.split('\n').length - 1 });
      await write(path, before + code);
    }
    await symlink(modules, join(folder, 'node_modules'));
    await write('package.json', '{ "type": "module" }');
    await write('tsconfig.json', JSON.stringify(project));
    const errors = await compile(folder);
    return errors.flatMap(([path, line, code, message]) => {
      const place = places.get(path);
      if (!place) return [`${path}:${line}: ${message} (${code})`];
      return [`${place.block.page}:${place.block.line + line - place.above}: ${message} (${code})`];
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The settings that `millrace init` writes, and those of the frameworks. */
const { compilerOptions } = JSON.parse(firstProject('docs', '0.0.0')['tsconfig.json'] ?? '') as {
  readonly compilerOptions: object;
};
const project = {
  compilerOptions: {
    ...compilerOptions,
    // Without the globals of browsers: one of them may have the name of an import that is missing.
    lib: ['es2023'],
    // JavaScript is only parsed.
    allowJs: true,
    jsx: 'react-jsx',
    // For the decorators and the constructor of NestJS.
    experimentalDecorators: true,
    // A bundler finds it without the extension.
    paths: { 'next/server': ['./node_modules/next/server.d.ts'] },
  },
  include: ['**/*.ts', '**/*.tsx', '**/*.js'],
  exclude: ['node_modules'],
};

function compile(folder: string): Promise<[path: string, line: number, code: string, message: string][]> {
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      [
        join(repository, 'node_modules/typescript/bin/tsc'),
        '-p',
        folder,
        '--pretty',
        'false',
        '--checkers',
        '1',
      ],
      { cwd: folder, maxBuffer: 2 ** 26 },
      (error, stdout, stderr) => {
        const errors = [...stdout.matchAll(/^(\S.*?)\((\d+),\d+\): error (TS\d+): (.*)$/gm)].map(
          ([, path = '', line, code = '', message = '']): [string, number, string, string] => [
            relative(folder, join(folder, path)),
            Number(line),
            code,
            message,
          ],
        );
        // It failed for another reason, such as an invalid option.
        if (error && errors.length === 0) reject(new Error(stdout + stderr, { cause: error }));
        else resolve(errors);
      },
    );
  });
}
