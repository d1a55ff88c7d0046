import { ForeignJsonError, parseForeignJson } from '@millrace/contract/foreign-json';
import { frameLimits, messageLimits, readRunnerMessage, type RunnerMessage } from '@millrace/contract/runner';
import { parseParts } from '../../json/parse-parts.ts';
import type { InParts } from '../../json/parts.ts';
import type { Connection } from './connection-state.ts';

/** A smaller frame is read in one part. */
const wholeBytes = 512 * 1024;
/** The maximum number of escapes in strings below 1 KiB: as many as a log frame can contain. Outputs are longer. */
const maxShortEscapes = messageLimits.logBytes;

type Read = RunnerMessage | { readonly fault: string };

/** Reads a frame within the limits, in parts. A frame that exceeds a limit is not parsed. */
export function readFrame(
  { turns, env }: Pick<Connection, 'turns' | 'env'>,
  data: Uint8Array,
): Read | Promise<Read> {
  if (data.length <= wholeBytes) return turns.run(env, () => read(data));
  return (async () => {
    const parts = readParts(Buffer.from(data.buffer, data.byteOffset, data.byteLength));
    for (;;) {
      const part = turns.run(env, () => parts.next());
      const { done, value } = part instanceof Promise ? await part : part;
      if (done) return value;
    }
  })();
}

function read(data: Uint8Array): Read {
  try {
    return messageOf(parseForeignJson(data, frameLimits), data.length);
  } catch (error) {
    return faultOf(error);
  }
}

function* readParts(data: Buffer): InParts<Read> {
  try {
    const value = yield* parseParts(data, frameLimits, maxShortEscapes);
    yield;
    return messageOf(value, data.length);
  } catch (error) {
    return faultOf(error);
  }
}

const faults = {
  syntax: 'It is not JSON.',
  size: `It has more than ${frameLimits.maxBytes} bytes.`,
  depth: `It is nested more than ${frameLimits.maxDepth} levels deep.`,
  members: `It has more than ${frameLimits.maxMembers} members and items.`,
};

function faultOf(error: unknown): Read {
  if (error instanceof ForeignJsonError) return { fault: faults[error.reason] };
  throw error;
}

function messageOf(value: unknown, bytes: number): Read {
  const message = readRunnerMessage(value);
  if ('type' in message && message.type === 'log' && bytes > messageLimits.logBytes)
    return { fault: `log: a frame of lines and spans must have at most ${messageLimits.logBytes} bytes.` };
  return message;
}
