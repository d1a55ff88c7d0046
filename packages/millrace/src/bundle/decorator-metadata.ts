import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, extname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { CompilerOptionsOf } from './tsconfig.ts';

/** A decorator at the start of a line or of a parameter. Comments may match, which costs only time. */
const decorator = /(?:^|[(,])\s*@[\p{L}_$]/mu;

/**
 * A TypeScript file compiled to JavaScript with the types of its decorated members (`emitDecoratorMetadata`), which esbuild does not write,
 * and a source map. Undefined if its tsconfig does not set that, or it has no decorators. The compiler is that of the project.
 */
export async function withDecoratorMetadata(
  file: string,
  text: string,
  optionsOf: CompilerOptionsOf,
): Promise<string | undefined> {
  if (!/\.[cm]?tsx?$/.test(file) || !decorator.test(text)) return undefined;
  const options = optionsOf(file);
  if (!options.emitDecoratorMetadata) return undefined;
  const typescript = await installed<TypeScript | object>(file, 'typescript');
  if (typescript && 'transpileModule' in typescript) return withTypescript(typescript, file, text, options);
  const swc = await installed<Swc>(file, '@swc/core');
  if (swc) return withSwc(swc, file, text, options);
  throw new Error(
    'emitDecoratorMetadata of tsconfig.json requires a compiler that writes it: run `npm install --save-dev @swc/core` (typescript below 7 also works), or remove the option',
  );
}

type Options = ReturnType<CompilerOptionsOf>;

/** The part of the API of TypeScript 4 to 6 that is used. TypeScript 7 has no API. */
interface TypeScript {
  readonly transpileModule: (
    text: string,
    options: { readonly fileName: string; readonly compilerOptions: object },
  ) => { readonly outputText: string };
  readonly convertCompilerOptionsFromJson: (json: object, folder: string) => { readonly options: object };
}

/** Classes and modules stay unchanged: esbuild lowers and bundles them. */
function withTypescript(
  { transpileModule, convertCompilerOptionsFromJson }: TypeScript,
  fileName: string,
  text: string,
  options: Options,
): string {
  const { options: compilerOptions } = convertCompilerOptionsFromJson(
    {
      ...options,
      target: 'es2022',
      module: 'esnext',
      moduleResolution: undefined,
      jsx: 'preserve',
      useDefineForClassFields: definesFields(options),
      importHelpers: false,
      sourceMap: undefined,
      inlineSourceMap: true,
      inlineSources: true,
      sourceRoot: undefined,
    },
    dirname(fileName),
  );
  return transpileModule(text, { fileName, compilerOptions }).outputText;
}

interface Swc {
  readonly transform: (text: string, options: object) => Promise<{ readonly code: string }>;
}

async function withSwc(
  { transform }: Swc,
  filename: string,
  text: string,
  options: Options,
): Promise<string> {
  const { code } = await transform(text, {
    filename,
    swcrc: false,
    configFile: false,
    sourceMaps: 'inline',
    sourceFileName: basename(filename),
    inlineSourcesContent: true,
    jsc: {
      target: 'es2022',
      keepClassNames: true,
      parser: { syntax: 'typescript', decorators: true, tsx: extname(filename) === '.tsx' },
      transform: {
        legacyDecorator: true,
        decoratorMetadata: true,
        useDefineForClassFields: definesFields(options),
        react: { runtime: 'preserve' },
      },
    },
  });
  return code;
}

/** The default of TypeScript depends on the target. */
const definesFields = ({ useDefineForClassFields, target }: Options): boolean =>
  useDefineForClassFields ?? /^es(?:next|202[2-9]|20[3-9]\d)$/i.test(target ?? '');

/** A package that is installed for a source file. Node.js caches failed lookups, so it would not find the package later. */
async function installed<T>(file: string, name: string): Promise<T | undefined> {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'node_modules', name, 'package.json'))) {
      const path = createRequire(join(folder, 'package.json')).resolve(name);
      return ((await import(pathToFileURL(path).href)) as { readonly default: T }).default;
    }
    if (folder === dirname(folder)) return undefined;
  }
}
