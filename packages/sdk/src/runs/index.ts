import { cancel } from './cancel.ts';
import { logs } from './logs.ts';
import { poll } from './poll.ts';
import { retrieve } from './retrieve.ts';

/** Runs: see how they stand, wait for them, stop them, read what they wrote. */
export const runs = { retrieve, poll, cancel, logs };
