import type { Random } from './random.ts';
import type { RunningServices } from './services/start.ts';

/** What everything that fills the shop needs. */
export interface Shop {
  readonly url: string;
  readonly projectRef: string;
  readonly personalAccessToken: string;
  /** Of prod. */
  readonly secretKey: string;
  readonly random: Random;
  readonly services: RunningServices;
  /** The next order that there will be. */
  readonly nextOrder: () => string;
}
