import type { RunLogLine } from '../run-scope.ts';
import { processCodec } from '../sealing/codec.ts';
import { lineSealer as sealerWith, type LineSealer } from '../sealing/lines.ts';

/** The function that seals the log lines of a run, if this process seals them. */
export const lineSealer = (run: string, send: (line: RunLogLine) => void): LineSealer | undefined =>
  sealerWith(processCodec(), run, send);
