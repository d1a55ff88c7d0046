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
 * Replaces a sealed value: a JSON object with this single member. `for` is the purpose for which it was sealed; it is not secret, and a codec
 * that binds it rejects an envelope that was moved.
 */
export interface Envelope {
  readonly $sealed: SealedText & { readonly for: string; readonly type: string };
}

/** The beginning of an envelope's JSON text, for a cheap check before parsing. */
const beginning = '{"$sealed":';
export const maySeal = (text: string): boolean => text.startsWith(beginning);

const members = ['key', 'for', 'type', 'data'] as const;

/** Whether a value is exactly an envelope, rather than data that resembles one. */
export function isSealed(value: unknown): value is Envelope {
  if (typeof value !== 'object' || value === null || !('$sealed' in value)) return false;
  const inner: unknown = value.$sealed;
  if (Object.keys(value).length !== 1 || typeof inner !== 'object' || inner === null) return false;
  const record = inner as Record<string, unknown>;
  return (
    Object.keys(record).length === members.length && members.every((name) => typeof record[name] === 'string')
  );
}

/** The envelope in a text, if the text is one. */
export function envelopeIn(text: string): Envelope | undefined {
  if (!maySeal(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isSealed(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** A purpose for display: `payload order-mail` becomes "The payload of order-mail". */
function named(purpose: string): string {
  const [kind = '', ...rest] = purpose.split(' ');
  const what = { step: 'result of step', log: 'line of', token: 'data of' }[kind] ?? kind;
  const subject = rest.join(' ');
  return subject === ''
    ? what
    : `${what}${kind === 'payload' || kind === 'output' || kind === 'error' ? ' of' : ''} ${subject}`;
}

/** Seals a text. Rethrows errors of the codec; its result must be a sealed text. */
export async function seal(codec: Codec, { text, type }: ClearText, purpose: string): Promise<Envelope> {
  return envelopeOf(await codec.encode(text, { purpose, type }), type, purpose);
}

/** The envelope for the result of a codec. */
export function envelopeOf(sealed: SealedText, type: string, purpose: string): Envelope {
  const { key, data } = Object(sealed) as Partial<SealedText>;
  if (typeof key !== 'string' || key === '' || key.length > 128 || typeof data !== 'string')
    throw new TypeError(
      'The codec must return { key, data }, two strings; the key must have 1 to 128 characters.',
    );
  // The order matches `beginning` and puts what matters to readers first.
  return { $sealed: { key, for: purpose, type, data } };
}

/**
 * Opens an envelope. Throws a SealedError without a codec, or if it was sealed for another purpose; rethrows errors of the codec.
 * @param purpose the expected purpose; undefined accepts any
 */
export async function open(
  codec: Codec | undefined,
  { $sealed: { key, data, type, for: sealedAs } }: Envelope,
  purpose: string | undefined,
): Promise<ClearText> {
  const what = `The ${named(purpose ?? sealedAs)} is sealed with key ${JSON.stringify(key)}`;
  if (!codec) {
    throw new SealedError(
      `${what}, but no codec is configured to open it: set codec in millrace.config.ts, or call configure({ codec }).`,
    );
  }
  if (purpose !== undefined && purpose !== sealedAs) {
    throw new SealedError(`${what}, as the ${named(sealedAs)}: it was moved here, and is not opened.`);
  }
  const text: unknown = await codec.decode({ key, data }, { purpose: sealedAs, type });
  if (typeof text !== 'string') throw new TypeError(`${what}; the codec must return a string.`);
  return { text, type };
}
