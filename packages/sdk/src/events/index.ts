import { cancel } from './cancel.ts';
import { list } from './list.ts';
import { replay } from './replay.ts';
import { retrieve } from './retrieve.ts';
import { send, sendBatch } from './send.ts';

/** Events and the runs they trigger. */
export const events = { send, sendBatch, list, retrieve, replay, cancel };
