import { explained } from '../explained.ts';

/** A text sealed by a codec. Both members are stored unchanged. */
export interface SealedText {
  /** The name of the key, for display and for `decode`. Never the key itself. At most 128 characters. */
  readonly key: string;
  /** The sealed data as text, such as base64. */
  readonly data: string;
}

/** The purpose of a text, which is the same when sealing and opening unless the text was moved. A codec binds the text to it. */
export interface CodecContext {
  /** `payload <task>`, `output <run>`, `step <task>/<name>`, `error <run>`, `log <run>`, `token <token>`, `metadata`. */
  readonly purpose: string;
  /** The format of the clear text: `application/json`, `application/super+json` or `text/plain`. */
  readonly type: string;
}

/** Data that a codec may leave in the clear. */
export type Clearable = 'metadata' | 'errors' | 'logs';

/**
 * Seals data that leaves this process and opens data that comes back. The server only stores and shows the result of `encode`. Either
 * function may be asynchronous; log lines then reach the server slightly later. `decode` throws a SealedError for data that another attempt
 * could not open either; after any other error the run is retried by its rules.
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
  /** Data that is not sealed. Payloads, outputs, step results and token data are always sealed. Default: none. */
  readonly clear?: readonly Clearable[] | undefined;
}

/**
 * Sealed data that cannot be opened here because there is no codec, the key is different, or the data was moved or corrupted. The message
 * states the cause.
 */
export class SealedError extends Error {
  override readonly name = 'SealedError';

  constructor(message: string, options?: ErrorOptions) {
    super(explained(message, 'a-sealed-value-cannot-be-decrypted'), options);
  }
}

interface Holder {
  /** The codec set with `configure`; null disables that of the project. */
  configured?: Codec | null | undefined;
  /** The codec of `millrace.config.ts`, set by the executor. */
  project?: Codec | undefined;
}

// Global, because a task's bundle has its own copy of this package.
const slot = Symbol.for('@millrace/sdk/codec');
const holder = globalThis as { [slot]?: Holder };

const clearables: readonly unknown[] = ['metadata', 'errors', 'logs'] satisfies Clearable[];

/** Throws a TypeError for a value that is not a codec. */
export function checkedCodec(input: unknown, where: string): Codec {
  const { encode, decode, clear = [] } = Object(input) as Partial<Codec>;
  if (typeof encode !== 'function' || typeof decode !== 'function')
    throw new TypeError(
      `${where} must be a codec, an object with encode and decode, such as aesGcmCodec({ … }).`,
    );
  if (!Array.isArray(clear) || !clear.every((item) => clearables.includes(item)))
    throw new TypeError(`${where}: clear must be an array of "metadata", "errors" and "logs".`);
  return input as Codec;
}

/** Sets the codec of `configure`. Undefined means the project's codec, if any. */
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
  const stored = holder[slot];
  if (stored === undefined) return undefined;
  return stored.configured === undefined ? stored.project : (stored.configured ?? undefined);
}

/** The codec for calls through a client: its own, otherwise that of the process. */
export function codecOf({
  options,
}: {
  readonly options: { readonly codec?: Codec | null | undefined };
}): Codec | undefined {
  return options.codec === undefined ? processCodec() : (options.codec ?? undefined);
}

/** The codec, if it seals this kind of data. */
export const sealing = (codec: Codec | undefined, what: Clearable): Codec | undefined =>
  codec?.clear?.includes(what) === true ? undefined : codec;
