import { dirname, relative } from 'node:path';
import { slashes } from './messages.ts';

/** Placeholder for the root of a build's source paths, until the paths of the modules are known. */
const rootMark = '@millrace-root@';

/**
 * The first line of every module. `require` and `__dirname` are those of CommonJS. `__millraceAt` returns the `import.meta` of a source file:
 * code finds the files next to its source in the project's folder, and copies of them at the same path in a deployed version.
 */
export const banner = [
  "import { createRequire as __createRequire } from 'node:module';",
  "import { dirname as __millraceDirname } from 'node:path';",
  "import { fileURLToPath as __millraceToPath } from 'node:url';",
  'const require = __createRequire(import.meta.url);',
  'const __millraceFile = __millraceToPath(import.meta.url);',
  'const __millraceFolder = __millraceDirname(__millraceFile);',
  'const __millraceAt = (path) => {',
  `const url = new URL(path, new URL('${rootMark}', import.meta.url)).href;`,
  'const filename = __millraceToPath(url);',
  'const resolve = (to) => (/^[.]{0,2}\\//.test(to) ? new URL(to, url).href : import.meta.resolve(to));',
  'return { url, filename, dirname: __millraceDirname(filename), resolve };',
  '};',
].join(' ');

/** `__dirname` and `__filename` for code without a source in the project: those of the module that contains it. */
export const moduleConstants = { __filename: '__millraceFile', __dirname: '__millraceFolder' } as const;

const used = /\b__dirname\b|\b__filename\b|\bimport\s*\.\s*meta\b/;

/** Whether a source file uses its own path. */
export const usesOwnPath = (text: string): boolean => used.test(text);

/** Directives are valid only before other statements. */
const strict = /^(?:\s|\/\/[^\n]*\n|\/\*[\s\S]*?\*\/|#![^\n]*\n)*(['"])use strict\1/;

/** The compiler options for a source file that uses its own path, so that it gets the path of its source below the root. */
export const ownPathOptions = (text: string, pathBelowRoot: string) => ({
  define: {
    'import.meta': '__millraceHere',
    __dirname: '__millraceHere.dirname',
    __filename: '__millraceHere.filename',
  },
  banner: `${strict.test(text) ? '"use strict"; ' : ''}var __millraceHere = /* @__PURE__ */ __millraceAt(${JSON.stringify(asUrl(pathBelowRoot))});`,
});

const asUrl = (path: string): string => path.split('/').map(encodeURIComponent).join('/');

/** The module with the relative path from it to the root. Line numbers stay the same, because source maps depend on them. */
export function withRoot(contents: Uint8Array, module: string, root: string): Uint8Array {
  const text = Buffer.from(contents.buffer, contents.byteOffset, contents.byteLength);
  const at = text.indexOf(rootMark);
  if (!module.endsWith('.mjs') || at === -1) return contents;
  const way = slashes(relative(dirname(module), root)) || '.';
  return Buffer.concat([
    text.subarray(0, at),
    Buffer.from(`${asUrl(way)}/`),
    text.subarray(at + rootMark.length),
  ]);
}
