import { close } from './close.ts';
import { list } from './list.ts';
import { open } from './open.ts';
import { retrieve } from './retrieve.ts';
import { start } from './start.ts';
import { update } from './update.ts';

/** Sessions: conversations with a task that outlive its runs, over two durable channels, `.in` and `.out`. */
export const sessions = { start, open, list, retrieve, update, close };
