import type { SerializedError } from '@millrace/contract/runner';
import { sealing, type Codec } from './codec.ts';
import { envelopeIn, open, seal } from './envelope.ts';

/** Replaces the message of a sealed error. Constant, so that errors from the same place form one group. */
export const sealedMessage = 'The message is sealed.';

/** Names of platform errors, whose messages contain no data of a run. */
const clearNames = new Set([
  'MaxDurationExceeded',
  'OutputTooLargeError',
  'ProcessExit',
  'SealedError',
  'SealingError',
  'UnreadableError',
]);

/** Matches ` at work (tasks/mail.ts:3:9)`; other lines may belong to a message and are left out. */
const frame = /^\s+at (?:[^()]*\()?(?:[^()\s]+:\d+:\d+|<anonymous>|native|index \d+)\)?$/;

/**
 * The frames of a stack: function names and positions in the code. Only for a stack that begins with the error's message, so that the rest
 * cannot be part of the message.
 */
function framesOf({ message, stackTrace }: SerializedError): readonly string[] {
  const at = stackTrace.indexOf(message);
  if (at < 0 || !/^[\w$.[\] ]*(?:: )?$/.test(stackTrace.slice(0, at))) return [];
  const [header, ...lines] = stackTrace.slice(at + message.length).split('\n');
  if (message === '' ? !/^[\w$.[\] ]*:? ?$/.test(header ?? '') : header !== '') return [];
  return lines.filter((line) => frame.test(line));
}

/**
 * An error with its message, causes and properties sealed. Its name, code, own fingerprint and stack frames are not encrypted, because the
 * server groups errors by them.
 */
export async function sealError(
  codec: Codec | undefined,
  error: SerializedError,
  purpose: string,
): Promise<SerializedError> {
  const covering = sealing(codec, 'errors');
  if (!covering || (error.type === 'INTERNAL_ERROR' && clearNames.has(error.name))) return error;
  const { type, name, code, fingerprint, isFinal } = error;
  const clear = { text: JSON.stringify(error), type: 'application/json' };
  let sealed: string;
  try {
    sealed = JSON.stringify(await seal(covering, clear, purpose));
  } catch {
    // The codec's message may contain the text, so the error is sent without one.
    sealed = '';
  }
  const message = sealed === '' ? 'The message could not be sealed, and was not sent.' : sealedMessage;
  const frames = framesOf(error);
  return {
    type,
    name,
    message,
    stackTrace: frames.length > 0 ? [`${name}: ${message}`, ...frames].join('\n') : '',
    ...(code !== undefined && { code }),
    ...(fingerprint !== undefined && { fingerprint }),
    ...(isFinal && { isFinal }),
    ...(sealed !== '' && { sealed }),
  };
}

/** The original error before it was sealed; an unsealed error is returned unchanged. */
export async function openError<E extends object>(
  codec: Codec | undefined,
  error: E,
  purpose: string | undefined,
): Promise<E> {
  const { sealed, ...rest } = error as { readonly sealed?: unknown };
  const envelope = typeof sealed === 'string' ? envelopeIn(sealed) : undefined;
  if (!codec || !envelope) return error;
  const { text } = await open(codec, envelope, purpose);
  return { ...rest, ...(JSON.parse(text) as object) } as E;
}

/** The same for errors as shown with runs: the causes are in one list, each before the error that it caused. */
export async function openShownError<E extends object>(
  codec: Codec | undefined,
  error: E,
  purpose: string | undefined,
): Promise<E> {
  const opened = await openError(codec, error, purpose);
  return opened === error ? error : displayed(opened as unknown as SerializedError, error);
}

function displayed<E extends object>(opened: SerializedError, error: E): E {
  const { sealed: _, ...rest } = error as { readonly sealed?: unknown };
  const causes: object[] = [];
  const collect = (list: readonly SerializedError[] = []): void => {
    for (const cause of list) {
      causes.push(plain(cause));
      collect(cause.causes);
    }
  };
  collect(opened.causes);
  return { ...rest, ...plain(opened), ...(causes.length > 0 && { causes }) } as unknown as E;
}

const plain = ({ message, name, stackTrace }: SerializedError) => ({
  message,
  name,
  stackTrace: stackTrace === '' ? undefined : stackTrace,
});
