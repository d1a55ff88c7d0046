import type { Random } from './random.ts';
import type { RunningServices } from './services/start.ts';

/** The context of all functions that fill the shop. */
export interface Shop {
  readonly url: string;
  readonly projectRef: string;
  readonly personalAccessToken: string;
  /** The secret key of prod. */
  readonly secretKey: string;
  readonly random: Random;
  readonly services: RunningServices;
  /** The number of the next order. */
  readonly nextOrder: () => string;
}
