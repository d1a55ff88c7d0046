import { task } from '@millrace/sdk';
import { body, type Sample } from '../recorder.ts';

export const noop = task({ id: 'noop', run: (sample: Sample) => body(sample) });
