import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = new URL('../', import.meta.url);

/** Makes Vite and Vitest read the source of the packages, as the compiler does with `paths` of tsconfig.source.json. */
export function sourceAliases(): { find: RegExp; replacement: string }[] {
  const { compilerOptions } = JSON.parse(readFileSync(new URL('tsconfig.source.json', root), 'utf8')) as {
    compilerOptions: { paths: Readonly<Record<string, readonly [string]>> };
  };
  return Object.entries(compilerOptions.paths).map(([name, [file]]) => ({
    find: new RegExp(`^${name}$`),
    replacement: fileURLToPath(new URL(file, root)),
  }));
}
