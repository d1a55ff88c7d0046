import { newTimedId } from '../db/ids.ts';

export const newBatchId = (now: number): string => newTimedId('batch', now);

const digits = 3;

/** The id of the run that an item creates. It is derived from the batch and the index, so the same item never creates two runs. */
export const itemRunId = (batch: string, index: number): string =>
  `run_${batch.slice(6, 27)}${index.toString(36).padStart(digits, '0')}`;
