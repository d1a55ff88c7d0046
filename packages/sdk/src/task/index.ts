import { trigger } from './trigger.ts';

/** Tasks by their ids. */
export const tasks = { trigger };
