import { decode } from '../payload/decode.ts';
import { sealing, type Codec } from './codec.ts';
import { envelopeIn, isSealed, open, seal, sealedType, type ClearText } from './envelope.ts';

/** A text with its type, sealed: an envelope as text. */
export async function sealText(codec: Codec, clear: ClearText, purpose: string): Promise<ClearText> {
  return { text: JSON.stringify(await seal(codec, clear, purpose)), type: sealedType };
}

/** A text that may be sealed, in the clear. One that is not is returned as it is, at once. */
export function openText(
  codec: () => Codec | undefined,
  given: ClearText,
  purpose: string | undefined,
): ClearText | Promise<ClearText> {
  const envelope =
    given.type === sealedType || given.type === 'application/json' ? envelopeIn(given.text) : undefined;
  return envelope ? open(codec(), envelope, purpose) : given;
}

/** The same, read by its type. */
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

/** A value in plain JSON, as the HTTP API shows values: dates are texts. */
export function plain({ text, type }: ClearText): unknown {
  if (type === 'application/json') return JSON.parse(text) as unknown;
  return type === 'application/super+json' ? (JSON.parse(text) as { json?: unknown }).json : text;
}

/** A JSON value with each text inside sealed; names, numbers, booleans and the shape stay, so that the server can change them. */
export async function sealTexts<T>(codec: Codec, value: T, purpose: string): Promise<T> {
  return (await mapped(value, (one) =>
    typeof one === 'string' ? seal(codec, { text: one, type: 'text/plain' }, purpose) : undefined,
  )) as T;
}

/** A JSON value with each envelope in it opened to plain JSON. What nobody can open here is thrown. */
export async function openDeep<T>(codec: Codec | undefined, value: T, purpose?: string): Promise<T> {
  return (await mapped(value, (one) =>
    isSealed(one) ? open(codec, one, purpose).then(plain) : undefined,
  )) as T;
}

/** A value in which what `change` takes is replaced. */
export async function mapped(
  value: unknown,
  change: (one: unknown) => Promise<unknown> | undefined,
): Promise<unknown> {
  const changed = change(value);
  if (changed) return changed;
  if (Array.isArray(value)) return Promise.all(value.map((one: unknown) => mapped(one, change)));
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  const entries = Object.entries(value).map(
    async ([name, one]) => [name, await mapped(one, change)] as const,
  );
  return Object.fromEntries(await Promise.all(entries));
}

const metadataPurpose = 'metadata';

/** Metadata, or a value in it, as it is sent. */
export async function sealMetadata<T>(codec: Codec | undefined, value: T): Promise<T> {
  const covering = sealing(codec, 'metadata');
  return covering ? sealTexts(covering, value, metadataPurpose) : value;
}

/** Metadata as the server has it, in the clear. */
export async function openMetadata<T>(codec: Codec | undefined, value: T): Promise<T> {
  return codec ? openDeep(codec, value, metadataPurpose) : value;
}
