import { boundedText } from '../bounded-text.ts';
import type { RunLogLine } from '../run-scope.ts';
import { sealing, type Codec, type SealedText } from './codec.ts';
import { envelopeOf, isSealed, open } from './envelope.ts';

/** Replaces the message of a sealed line. */
export const sealedLine = '(sealed)';

const type = 'application/json';
const failedLine = '(a line that could not be sealed, and was not sent)';

/** Maximum size of a clear line in UTF-8 bytes. Sealed and encoded as base64, it then fits into the server's limit per line. */
const maxClearBytes = 45_000;
/** The server's limit on the properties of a line, in characters. */
const maxSealedCharacters = 65_536;

/** A line as JSON text, truncated if it is too long. */
function textOf({ message, properties }: RunLogLine): string {
  for (let max = maxClearBytes; ; max = Math.floor(max / 2)) {
    const shortened =
      properties !== undefined && properties.length > max
        ? JSON.stringify({ cut: boundedText(properties, max) })
        : properties;
    const text = JSON.stringify({ message: boundedText(message, max), properties: shortened });
    if (text.length <= maxClearBytes && new TextEncoder().encode(text).length <= maxClearBytes) return text;
  }
}

/** Seals the lines of a run in order. Level and time are not encrypted. */
export class LineSealer {
  readonly #codec: Codec;
  readonly #purpose: string;
  readonly #send: (line: RunLogLine) => void;
  /** The lines that are waiting for an asynchronous codec. */
  #under: Promise<void> | undefined;

  constructor(codec: Codec, run: string, send: (line: RunLogLine) => void) {
    this.#codec = codec;
    this.#purpose = `log ${run}`;
    this.#send = send;
  }

  /** Sends a sealed line: immediately if the codec is synchronous. Never throws. */
  add(line: RunLogLine): void {
    let sealed: SealedText | Promise<SealedText>;
    try {
      sealed = this.#codec.encode(textOf(line), { purpose: this.#purpose, type });
    } catch {
      sealed = Promise.reject(new Error('not sealed'));
    }
    if (!(sealed instanceof Promise) && !this.#under) return this.#sendSealed(line, sealed);
    const under: Promise<void> = Promise.all([
      Promise.resolve(sealed).catch(() => undefined),
      this.#under,
    ]).then(([result]) => {
      this.#sendSealed(line, result);
      if (this.#under === under) this.#under = undefined;
    });
    this.#under = under;
  }

  /** Resolves when all lines are sent. */
  async end(): Promise<void> {
    while (this.#under) await this.#under;
  }

  #sendSealed({ at, level }: RunLogLine, sealed: SealedText | undefined): void {
    let properties: string | undefined;
    try {
      if (sealed) properties = JSON.stringify(envelopeOf(sealed, type, this.#purpose));
    } catch {
      // The codec did not return a sealed text.
    }
    if (properties === undefined || properties.length > maxSealedCharacters)
      this.#send({ at, level, message: failedLine });
    else this.#send({ at, level, message: sealedLine, properties });
  }
}

/** The function that seals the lines of a run in this process, if they are sealed. */
export function lineSealer(
  codec: Codec | undefined,
  run: string,
  send: (line: RunLogLine) => void,
): LineSealer | undefined {
  const covering = sealing(codec, 'logs');
  return covering && new LineSealer(covering, run, send);
}

/** The original line before it was sealed; an unsealed line is returned unchanged. */
export async function openLine<L extends { readonly message: string; readonly properties?: unknown }>(
  codec: Codec | undefined,
  line: L,
  run: string | undefined,
): Promise<L> {
  if (!codec || line.message !== sealedLine || !isSealed(line.properties)) return line;
  const { text } = await open(codec, line.properties, run === undefined ? undefined : `log ${run}`);
  const { message, properties } = JSON.parse(text) as { message: string; properties?: string };
  const { properties: _, ...rest } = line;
  return {
    ...rest,
    message,
    ...(properties !== undefined && { properties: JSON.parse(properties) as unknown }),
  } as unknown as L;
}
