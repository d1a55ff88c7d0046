import { cancel } from './cancel.ts';
import { list } from './list.ts';
import { replay } from './replay.ts';
import { retrieve } from './retrieve.ts';
import { send, sendBatch } from './send.ts';

/** Events: what happened, told once, and the runs that it starts. */
export const events = { send, sendBatch, list, retrieve, replay, cancel };
