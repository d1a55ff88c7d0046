import type { sealedType as contractType } from '@millrace/contract';
import { SealedError, type Codec, type SealedText } from './codec.ts';

/** The content type of a text that is an envelope. */
export const sealedType: typeof contractType = 'application/x-millrace-sealed+json';

/** A clear text and its type. */
export interface ClearText {
  readonly text: string;
  readonly type: string;
}

/**
 * What stands in the place of a sealed value: JSON with this one member. `for` says what it was sealed as; it is no secret, and a codec
 * that binds it refuses an envelope that was moved.
 */
export interface Envelope {
  readonly $sealed: SealedText & { readonly for: string; readonly type: string };
}

/** How a JSON text of an envelope begins: a cheap look before it is parsed. */
const beginning = '{"$sealed":';
export const maySeal = (text: string): boolean => text.startsWith(beginning);

const members = ['key', 'for', 'type', 'data'] as const;

/** Whether a value is exactly an envelope, and not data that looks like one. */
export function isSealed(value: unknown): value is Envelope {
  if (typeof value !== 'object' || value === null || !('$sealed' in value)) return false;
  const inner: unknown = value.$sealed;
  if (Object.keys(value).length !== 1 || typeof inner !== 'object' || inner === null) return false;
  const record = inner as Record<string, unknown>;
  return (
    Object.keys(record).length === members.length && members.every((name) => typeof record[name] === 'string')
  );
}

/** The envelope that a text is. */
export function envelopeIn(text: string): Envelope | undefined {
  if (!maySeal(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isSealed(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** `payload order-mail` as people read it: "The payload of order-mail". */
function named(purpose: string): string {
  const [kind = '', ...rest] = purpose.split(' ');
  const what = { step: 'result of step', log: 'line of', token: 'data of' }[kind] ?? kind;
  const subject = rest.join(' ');
  return subject === ''
    ? what
    : `${what}${kind === 'payload' || kind === 'output' || kind === 'error' ? ' of' : ''} ${subject}`;
}

/** Seals a text. What the codec throws is thrown; what it returns must be a sealed text. */
export async function seal(codec: Codec, { text, type }: ClearText, purpose: string): Promise<Envelope> {
  return envelopeOf(await codec.encode(text, { purpose, type }), type, purpose);
}

/** The envelope of what a codec returned. */
export function envelopeOf(sealed: SealedText, type: string, purpose: string): Envelope {
  const { key, data } = Object(sealed) as Partial<SealedText>;
  if (typeof key !== 'string' || key === '' || key.length > 128 || typeof data !== 'string')
    throw new TypeError('The codec must return { key, data }, two texts; the key has 1 to 128 characters.');
  // The order is that of `beginning` and of what people read first.
  return { $sealed: { key, for: purpose, type, data } };
}

/**
 * Opens an envelope. Throws a SealedError without a codec, or where it was sealed as something else; what the codec throws is thrown.
 * @param purpose what it is read as; undefined where any is fine
 */
export async function open(
  codec: Codec | undefined,
  { $sealed: { key, data, type, for: sealedAs } }: Envelope,
  purpose: string | undefined,
): Promise<ClearText> {
  const what = `The ${named(purpose ?? sealedAs)} is sealed with key ${JSON.stringify(key)}`;
  if (!codec) {
    throw new SealedError(
      `${what}, and there is no codec here to open it: name one in millrace.config.ts (codec), or call configure({ codec }).`,
    );
  }
  if (purpose !== undefined && purpose !== sealedAs) {
    throw new SealedError(`${what}, as the ${named(sealedAs)}: somebody moved it here. It is not opened.`);
  }
  const text: unknown = await codec.decode({ key, data }, { purpose: sealedAs, type });
  if (typeof text !== 'string') throw new TypeError(`${what}; the codec must return the text.`);
  return { text, type };
}
