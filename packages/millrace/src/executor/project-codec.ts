import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Entry } from '../bundle/module-options.ts';
import type { Sdk } from './sdk.ts';

/** Sets the codec that a file exports. Throws for what is no codec, and where the project's SDK is too old to have one. */
export function useCodecOf(sdk: Sdk, namespace: object): void {
  const use: unknown = sdk.useProjectCodec;
  if (typeof use !== 'function')
    throw new Error('"codec" needs a newer @millrace/sdk than the project has installed: update it.');
  sdk.useProjectCodec((namespace as { readonly default?: unknown }).default);
}

/**
 * Loads the codec of a project before any of its tasks. The result is why that failed: no task may run then, because what it returns would be
 * sent in the clear.
 */
export const failureOfCodec = (...given: Parameters<typeof loadCodec>): Promise<Error | undefined> =>
  loadCodec(...given).then(
    () => undefined,
    (thrown: unknown) =>
      thrown instanceof Error
        ? thrown
        : new Error('The codec of the project cannot be loaded.', { cause: thrown }),
  );

async function loadCodec(
  sdk: Sdk,
  {
    dir,
    entries,
    codec,
  }: { readonly dir: string; readonly entries: readonly Entry[]; readonly codec: string },
): Promise<void> {
  const entry = entries.find(({ source }) => source === codec);
  if (!entry) throw new Error(`The codec of the project, ${codec}, does not compile.`);
  useCodecOf(sdk, (await import(pathToFileURL(join(dir, entry.module)).href)) as object);
}
