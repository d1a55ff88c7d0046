import type { Sdk } from './sdk.ts';

/** Sets the codec that a file exports. Throws if it is not a codec, or if the project's SDK is too old to support one. */
export function useCodecOf(sdk: Sdk, namespace: object): void {
  const use: unknown = sdk.useProjectCodec;
  if (typeof use !== 'function')
    throw new Error('"codec" requires a newer @millrace/sdk than the installed one: update it.');
  sdk.useProjectCodec((namespace as { readonly default?: unknown }).default);
}
