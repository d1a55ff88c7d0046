import ts from 'typescript';

/** A type check reads `lib.d.ts` files of the package. */
export default async () => {
  const program = ts.createProgram([], { lib: ['lib.es2022.d.ts'] });
  return [ts.transpile('const a: number = 1'), program.getGlobalDiagnostics().length];
};
