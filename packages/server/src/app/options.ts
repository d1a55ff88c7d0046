import type { MasterKey } from '../auth/seal.ts';
import type { Database } from '../db/connect.ts';
import type { RateLimits } from '../http/rate-limit.ts';
import type { ConnectionLimits } from '../http/unproven.ts';
import type { Log } from '../log.ts';
import type { LeaseTimes } from '../runs/connection.ts';
import type { StreamLimits } from '../sse/event-streams.ts';
import type { Retention } from '../upkeep/duties.ts';

export interface ServerOptions {
  readonly database: Database;
  /** Default `127.0.0.1`. */
  readonly host?: string;
  /** 0 is any free one. */
  readonly port: number;
  readonly masterKey: MasterKey;
  readonly log: Log;
  /** Tell the credentials of the first start again: for development only. */
  readonly reveal?: boolean;
  readonly rateLimits?: RateLimits;
  /** Most event-streams at once. Default: `defaultStreamLimits`. */
  readonly streamLimits?: Partial<StreamLimits>;
  /** For connections without a successful request. Default: `defaultConnectionLimits`. */
  readonly connectionLimits?: Partial<ConnectionLimits>;
  readonly leaseTimes?: Partial<LeaseTimes>;
  readonly retention?: Partial<Retention>;
  /** Where notifications may go beside the public Internet, such as `10.0.0.0/8`. Default: nowhere. */
  readonly notificationNetworks?: readonly string[];
}
