import type { Delivery } from '../../db/wake.ts';
import type { JobWatch } from '../../jobs/watch.ts';
import type { Check } from './check.ts';
import type { Limits } from './limits.ts';

/** The input of checks of the server process that responds. */
export interface ProcessInput {
  readonly jobs: Pick<JobWatch, 'states'>;
  /** The delivery of notifications to this process. */
  readonly delivery: Delivery;
  /** The runners connected to this process. */
  readonly runners: {
    all(): Iterable<{
      readonly id: string;
      readonly host: string;
      /** How far its clock is ahead of that of the database. */
      readonly aheadMs: number;
    }>;
  };
  /** Whether the database accepts writes. */
  readonly acceptsWrites: boolean;
  readonly limits: Pick<Limits, 'clockSkewMs' | 'stuckMs' | 'missingMs' | 'silenceMs'>;
}

export type ProcessCheck = Check<ProcessInput>;
