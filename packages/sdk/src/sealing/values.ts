import { decode } from '../payload/decode.ts';
import { sealing, type Codec } from './codec.ts';
import { envelopeIn, isSealed, open, seal, sealedType, type ClearText } from './envelope.ts';

/** A text with its type, sealed into the text of an envelope. */
export async function sealText(codec: Codec, clear: ClearText, purpose: string): Promise<ClearText> {
  return { text: JSON.stringify(await seal(codec, clear, purpose)), type: sealedType };
}

/** Opens a text that may be sealed. An unsealed text is returned unchanged, synchronously. */
export function openText(
  codec: () => Codec | undefined,
  input: ClearText,
  purpose: string | undefined,
): ClearText | Promise<ClearText> {
  const envelope =
    input.type === sealedType || input.type === 'application/json' ? envelopeIn(input.text) : undefined;
  return envelope ? open(codec(), envelope, purpose) : input;
}

/** Opens a text that may be sealed and parses it by its type. */
export async function decodeOpened(
  codec: () => Codec | undefined,
  text: string | null,
  type: string,
  purpose: string | undefined,
): Promise<unknown> {
  if (text === null) return undefined;
  const opened = await openText(codec, { text, type }, purpose);
  return decode(opened.text, opened.type);
}

/** A value in plain JSON, as in the HTTP API: dates are strings. */
export function plain({ text, type }: ClearText): unknown {
  if (type === 'application/json') return JSON.parse(text) as unknown;
  return type === 'application/super+json' ? (JSON.parse(text) as { json?: unknown }).json : text;
}

/**
 * A JSON value with each nested string sealed. Names, numbers, booleans and the structure are unchanged, so that the server can modify
 * them.
 */
export async function sealTexts<T>(codec: Codec, value: T, purpose: string): Promise<T> {
  return (await mapped(value, (item) =>
    typeof item === 'string' ? seal(codec, { text: item, type: 'text/plain' }, purpose) : undefined,
  )) as T;
}

/** A JSON value with each nested envelope opened to plain JSON. Throws if an envelope cannot be opened here. */
export async function openDeep<T>(codec: Codec | undefined, value: T, purpose?: string): Promise<T> {
  return (await mapped(value, (item) =>
    isSealed(item) ? open(codec, item, purpose).then(plain) : undefined,
  )) as T;
}

/** A value in which everything accepted by `change` is replaced. */
export async function mapped(
  value: unknown,
  change: (item: unknown) => Promise<unknown> | undefined,
): Promise<unknown> {
  const changed = change(value);
  if (changed) return changed;
  if (Array.isArray(value)) return Promise.all(value.map((item: unknown) => mapped(item, change)));
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  const entries = Object.entries(value).map(
    async ([name, item]) => [name, await mapped(item, change)] as const,
  );
  return Object.fromEntries(await Promise.all(entries));
}

const metadataPurpose = 'metadata';

/** Metadata, or a value in it, in the form in which it is sent. */
export async function sealMetadata<T>(codec: Codec | undefined, value: T): Promise<T> {
  const covering = sealing(codec, 'metadata');
  return covering ? sealTexts(covering, value, metadataPurpose) : value;
}

/** Decrypted metadata from the server. */
export async function openMetadata<T>(codec: Codec | undefined, value: T): Promise<T> {
  return codec ? openDeep(codec, value, metadataPurpose) : value;
}
