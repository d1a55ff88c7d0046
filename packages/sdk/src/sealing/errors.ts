import type { SerializedError } from '@millrace/contract/runner';
import { sealing, type Codec } from './codec.ts';
import { envelopeIn, open, seal } from './envelope.ts';

/** What a sealed error says instead of its message: constant, so that errors of one place form one group. */
export const sealedMessage = 'The message is sealed.';

/** The platform's own words that contain nothing of a run's data. */
const clearNames = new Set([
  'MaxDurationExceeded',
  'OutputTooLargeError',
  'ProcessExit',
  'SealedError',
  'SealingError',
  'UnreadableError',
]);

/** `    at work (tasks/mail.ts:3:9)`; a line of a message that looks otherwise is left out. */
const frame = /^\s+at (?:[^()]*\()?(?:[^()\s]+:\d+:\d+|<anonymous>|native|index \d+)\)?$/;

/**
 * The frames of a stack: names of functions and positions in the code. Only of a stack that begins with the error's message: what
 * follows is then not the message.
 */
function framesOf({ message, stackTrace }: SerializedError): readonly string[] {
  const at = stackTrace.indexOf(message);
  if (at < 0 || !/^[\w$.[\] ]*(?:: )?$/.test(stackTrace.slice(0, at))) return [];
  const [header, ...lines] = stackTrace.slice(at + message.length).split('\n');
  if (message === '' ? !/^[\w$.[\] ]*:? ?$/.test(header ?? '') : header !== '') return [];
  return lines.filter((line) => frame.test(line));
}

/**
 * An error whose message, causes and properties are sealed. Its name, its code, its own fingerprint and the frames of its stack stay: the
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
    // What the codec says may be about the text. It is sent as an error without one.
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

/** An error as it was before it was sealed; one that was not is returned as it is. */
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

/** The same, as runs show errors: its causes in one list, each before what caused it. */
export async function openShownError<E extends object>(
  codec: Codec | undefined,
  error: E,
  purpose: string | undefined,
): Promise<E> {
  const opened = await openError(codec, error, purpose);
  return opened === error ? error : shown(opened as unknown as SerializedError, error);
}

function shown<E extends object>(opened: SerializedError, error: E): E {
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
