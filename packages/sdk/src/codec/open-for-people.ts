import type { Codec } from '../sealing/codec.ts';
import { openShownError } from '../sealing/errors.ts';
import { isSealed, open } from '../sealing/envelope.ts';
import { openLine } from '../sealing/lines.ts';
import { mapped, plain } from '../sealing/values.ts';

/**
 * An API response with its sealed parts opened, for people to read. Parts that this codec cannot open stay envelopes. The codec decides whether
 * an envelope in another place than its own is opened.
 */
export async function openForPeople<T>(codec: Codec, reply: T): Promise<T> {
  return (await mapped(reply, (one) => {
    if (isSealed(one)) return open(codec, one, undefined).then(plain, () => one as unknown);
    if (hasError(one)) return openShownError(codec, one, undefined).catch(() => one);
    if (isLine(one)) return openLine(codec, one, undefined).catch(() => one);
    return undefined;
  })) as T;
}

const hasError = (one: unknown): one is { readonly sealed: string; readonly message: string } =>
  typeof one === 'object' && one !== null && 'sealed' in one && 'message' in one;

const isLine = (one: unknown): one is { readonly message: string; readonly properties: unknown } =>
  typeof one === 'object' &&
  one !== null &&
  'message' in one &&
  'properties' in one &&
  isSealed(one.properties);
