import { dirname } from 'node:path';
import { getTsconfig, parseTsconfig, type TsConfigJson } from 'get-tsconfig';

/** The compiler options that apply to a source file. */
export type CompilerOptionsOf = (file: string) => TsConfigJson.CompilerOptions;

/** `configured`: the tsconfig for all files, absolute. Default: the nearest `tsconfig.json` of each file. */
export function compilerOptions(configured: string | undefined): CompilerOptionsOf {
  const cache = new Map();
  return (file) => {
    try {
      const config =
        configured === undefined
          ? getTsconfig(dirname(file), 'tsconfig.json', cache)?.config
          : parseTsconfig(configured, cache);
      return config?.compilerOptions ?? {};
    } catch {
      // esbuild also ignores one that it cannot read.
      return {};
    }
  };
}
