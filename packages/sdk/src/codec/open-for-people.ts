import type { Codec } from '../sealing/codec.ts';
import { openShownError } from '../sealing/errors.ts';
import { isSealed, open } from '../sealing/envelope.ts';
import { openLine } from '../sealing/lines.ts';
import { mapped, plain } from '../sealing/values.ts';

/**
 * An API response with its sealed parts opened, for people to read. Parts that this codec cannot open remain envelopes. The codec decides
 * whether to open an envelope that was moved to a different place.
 */
export async function openForPeople<T>(codec: Codec, reply: T): Promise<T> {
  return (await mapped(reply, (value) => {
    if (isSealed(value)) return open(codec, value, undefined).then(plain, () => value as unknown);
    if (hasError(value)) return openShownError(codec, value, undefined).catch(() => value);
    if (isLine(value)) return openLine(codec, value, undefined).catch(() => value);
    return undefined;
  })) as T;
}

const hasError = (value: unknown): value is { readonly sealed: string; readonly message: string } =>
  typeof value === 'object' && value !== null && 'sealed' in value && 'message' in value;

const isLine = (value: unknown): value is { readonly message: string; readonly properties: unknown } =>
  typeof value === 'object' &&
  value !== null &&
  'message' in value &&
  'properties' in value &&
  isSealed(value.properties);
