import {
  ForeignJsonError,
  JsonScan,
  parseForeignJson,
  type ForeignJsonLimits,
} from '@millrace/contract/foreign-json';
import { frameLimits, messageLimits, readRunnerMessage, type RunnerMessage } from '@millrace/contract/runner';
import type { Connection } from './connection-state.ts';

/** Bytes of a slice. A smaller frame is read in one slice. */
const sliceBytes = 512 * 1024;

type Read = RunnerMessage | { readonly fault: string };

/** Reads a frame within the limits, in slices. A frame that exceeds a limit is not parsed. */
export function readFrame({ turns, env, isOver }: Connection, data: Uint8Array): Read | Promise<Read> {
  if (data.length <= sliceBytes) return turns.run(env, () => parsed(data, frameLimits));
  return (async () => {
    const scan = new JsonScan(frameLimits);
    for (let from = 0; from < data.length && !scan.exceeded && !isOver(); from += sliceBytes)
      await turns.run(env, () => scan.add(data.subarray(from, from + sliceBytes)));
    if (scan.exceeded) return { fault: faults[scan.exceeded] };
    return turns.run(env, () => parsed(data, alreadyScanned));
  })();
}

/** The frame is within the limits, so it is not scanned again. */
const alreadyScanned: ForeignJsonLimits = { ...frameLimits, maxDepth: Infinity, maxMembers: Infinity };

const faults = {
  syntax: 'It is not JSON.',
  size: `It has more than ${frameLimits.maxBytes} bytes.`,
  depth: `It is nested more than ${frameLimits.maxDepth} levels deep.`,
  members: `It has more than ${frameLimits.maxMembers} members and items.`,
};

function parsed(data: Uint8Array, limits: ForeignJsonLimits): Read {
  try {
    const message = readRunnerMessage(parseForeignJson(data, limits));
    if ('type' in message && message.type === 'log' && data.length > messageLimits.logBytes)
      return { fault: `log: a frame of lines and spans has at most ${messageLimits.logBytes} bytes.` };
    return message;
  } catch (error) {
    if (error instanceof ForeignJsonError) return { fault: faults[error.reason] };
    throw error;
  }
}
