import { readFile } from 'node:fs/promises';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { basename, extname, relative } from 'node:path';
import { installedFolder } from '@millrace/diagnostics';
import type { Loader, Message, PartialMessage, Plugin } from 'esbuild';
import { withDecoratorMetadata } from './decorator-metadata.ts';
import { isBuildFailure, slashes } from './messages.ts';
import { ownPathOptions, usesOwnPath } from './source-path.ts';
import type { CompilerOptionsOf } from './tsconfig.ts';

export interface LocalModulesOptions {
  readonly projectDir: string;
  readonly optionsOf: CompilerOptionsOf;
  /** The path of a source file below the root of the build. */
  readonly pathBelowRoot: (file: string) => string;
  /** Receives each file that uses its own path. */
  readonly onOwnPath?: (file: string) => void;
}

/** Compiles the files of the project and its workspace that use their own path or decorator metadata. esbuild compiles the others itself. */
export const localModules = ({
  projectDir,
  optionsOf,
  pathBelowRoot,
  onOwnPath,
}: LocalModulesOptions): Plugin => ({
  name: 'local-modules',
  setup(build) {
    const compiled = new Map<string, string>();
    build.onLoad({ filter: /\.[cm]?[jt]sx?$/, namespace: 'file' }, async ({ path }) => {
      if (installedFolder(path) !== undefined) return undefined;
      const file = slashes(relative(projectDir, path));
      const text = await readFile(path, 'utf8');
      try {
        const decorated = await withDecoratorMetadata(path, text, optionsOf);
        const code = usesOwnPath(text) ? await withOwnPath(path, decorated ?? text) : decorated;
        if (code === undefined) return undefined;
        compiled.set(file, code);
        return { contents: code, loader: loaderOf(path) };
      } catch (error) {
        return { errors: messagesOf(error, file) };
      }
    });

    const withOwnPath = async (path: string, text: string): Promise<string> => {
      onOwnPath?.(path);
      const { code } = await build.esbuild.transform(text, {
        ...ownPathOptions(text, pathBelowRoot(path)),
        loader: loaderOf(path),
        jsx: 'preserve',
        sourcemap: 'inline',
        sourcefile: basename(path),
        tsconfigRaw: { compilerOptions: optionsOf(path) },
        logLevel: 'silent',
      });
      return code;
    };

    build.onEnd(({ errors }) => {
      for (const { location } of errors) if (location) moveToSource(location, compiled.get(location.file));
    });
  },
});

const loaderOf = (path: string): Loader => {
  const extension = extname(path);
  if (extension.endsWith('x')) return extension === '.tsx' ? 'tsx' : 'jsx';
  return extension.includes('t') ? 'ts' : 'js';
};

function messagesOf(error: unknown, file: string): PartialMessage[] {
  if (isBuildFailure(error))
    return error.errors.map((message) => ({
      ...message,
      ...(message.location && { location: { ...message.location, file } }),
    }));
  const text = error instanceof Error ? error.message : String(error);
  return [{ text, location: { file, line: 1 } }];
}

/** esbuild reports line numbers of the text that it receives. */
function moveToSource(location: NonNullable<Message['location']>, code: string | undefined): void {
  const [, map] = /\/\/# sourceMappingURL=data:application\/json;base64,(\S+)\s*$/.exec(code ?? '') ?? [];
  if (map === undefined) return;
  const payload = JSON.parse(Buffer.from(map, 'base64').toString()) as SourceMapPayload;
  const found = new SourceMap(payload).findEntry(location.line - 1, location.column);
  if (!('originalLine' in found)) return;
  location.line = found.originalLine + 1;
  location.column = found.originalColumn;
}
