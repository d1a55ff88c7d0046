import { explained } from '../explained.ts';

/** A text that a codec sealed. Both members are stored as they are. */
export interface SealedText {
  /** Names the key, for people and for `decode`. Never the key itself. At most 128 characters. */
  readonly key: string;
  /** The sealed text, as text: base64 for instance. */
  readonly data: string;
}

/** What a text is for. The same when it is sealed and when it is opened, unless somebody moved it: a codec binds the two together. */
export interface CodecContext {
  /** `payload <task>`, `output <run>`, `step <task>/<name>`, `error <run>`, `log <run>`, `token <token>`, `metadata`. */
  readonly purpose: string;
  /** How the clear text is written: `application/json`, `application/super+json` or `text/plain`. */
  readonly type: string;
}

/** What a codec may leave in the clear. */
export type Clearable = 'metadata' | 'errors' | 'logs';

/**
 * Seals what leaves this process and opens what comes back: the server stores and shows only what `encode` returned. Either function may be
 * asynchronous; log lines then reach the server a little later. `decode` throws a SealedError for what another attempt would not open
 * either; any other error of it makes a run try again by its rules.
 *
 * @example
 * const codec: Codec = {
 *   encode: async (text, { purpose }) => ({ key: 'k1', data: await kms.encrypt(text, purpose) }),
 *   decode: ({ data }, { purpose }) => kms.decrypt(data, purpose),
 * };
 */
export interface Codec {
  encode(text: string, context: CodecContext): SealedText | Promise<SealedText>;
  decode(sealed: SealedText, context: CodecContext): string | Promise<string>;
  /** What is not sealed. Payloads, outputs, results of steps and data of tokens always are. Default: nothing. */
  readonly clear?: readonly Clearable[] | undefined;
}

/** Something sealed that cannot be opened here: no codec, another key, moved or damaged. The message says which. */
export class SealedError extends Error {
  override readonly name = 'SealedError';

  constructor(message: string, options?: ErrorOptions) {
    super(explained(message, 'a-sealed-value-does-not-open'), options);
  }
}

interface Holder {
  /** That `configure` gave; null switches the project's off. */
  configured?: Codec | null | undefined;
  /** That of `millrace.config.ts`, set by the executor. */
  project?: Codec | undefined;
}

// Global, because a task's bundle has a copy of this package of its own.
const slot = Symbol.for('@millrace/sdk/codec');
const holder = globalThis as { [slot]?: Holder };

const clearables: readonly unknown[] = ['metadata', 'errors', 'logs'] satisfies Clearable[];

/** Throws a TypeError for what is no codec. */
export function checkedCodec(given: unknown, where: string): Codec {
  const { encode, decode, clear = [] } = Object(given) as Partial<Codec>;
  if (typeof encode !== 'function' || typeof decode !== 'function')
    throw new TypeError(
      `${where} must be a codec, an object with encode and decode, such as aesGcmCodec({ … }).`,
    );
  if (!Array.isArray(clear) || !clear.every((one) => clearables.includes(one)))
    throw new TypeError(`${where}: clear is a list of "metadata", "errors" and "logs".`);
  return given as Codec;
}

/** Sets the codec of `configure`. Undefined: that of the project, if there is one. */
export function configureCodec(codec: Codec | null | undefined): void {
  if (codec === undefined && holder[slot] === undefined) return;
  (holder[slot] ??= {}).configured = codec && checkedCodec(codec, 'configure: codec');
}

/** Sets the codec of the project that this process executes. */
export function useProjectCodec(codec: unknown): void {
  (holder[slot] ??= {}).project = checkedCodec(codec, 'The default export');
}

/** The codec of this process. */
export function processCodec(): Codec | undefined {
  const held = holder[slot];
  if (held === undefined) return undefined;
  return held.configured === undefined ? held.project : (held.configured ?? undefined);
}

/** The codec of calls through a client: its own, else that of the process. */
export function codecOf({
  given,
}: {
  readonly given: { readonly codec?: Codec | null | undefined };
}): Codec | undefined {
  return given.codec === undefined ? processCodec() : (given.codec ?? undefined);
}

/** The codec, if it seals this. */
export const sealing = (codec: Codec | undefined, what: Clearable): Codec | undefined =>
  codec?.clear?.includes(what) === true ? undefined : codec;
