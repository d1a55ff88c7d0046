import { EdgeVM } from '@edge-runtime/vm';
import { build } from 'esbuild';
import { example } from './start.ts';

/** Triggers in the runtime of edge functions, which has `fetch` but no Node.js API. Resolves with the handle. */
export async function inEdgeRuntime(
  variables: Readonly<Record<string, string>>,
  payload: string,
): Promise<unknown> {
  const { outputFiles } = await build({
    stdin: {
      contents: `import { millrace } from './millrace.ts';
        globalThis.answer = millrace.tasks.trigger('send-email', ${payload}).then((handle) => JSON.stringify(handle));`,
      resolveDir: example,
      loader: 'ts',
    },
    bundle: true,
    write: false,
    format: 'iife',
    // As in bundlers of edge functions.
    platform: 'neutral',
    mainFields: ['module', 'main'],
    conditions: ['edge-light', 'worker', 'import'],
    // The tsconfig.json of this repository resolves to sources, which are for Node.js.
    tsconfigRaw: {},
    logLevel: 'error',
  });
  const vm = new EdgeVM({ extend: (context) => Object.assign(context, { process: { env: variables } }) });
  vm.evaluate(outputFiles[0]?.text ?? '');
  return JSON.parse(await vm.evaluate<Promise<string>>('answer')) as unknown;
}
