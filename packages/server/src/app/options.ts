import type { MasterKey } from '../auth/seal.ts';
import type { Database } from '../db/connect.ts';
import type { FindLocalBuild } from '../versions/deployments/sources/local.ts';
import type { S3Settings } from '../versions/store/s3.ts';
import type { AdmissionLimits } from '../http/admission.ts';
import type { RateLimits } from '../http/rate-limit.ts';
import type { MetricsOptions } from '../http/serve-metrics.ts';
import type { ConnectionLimits } from '../http/unauthenticated-connections.ts';
import type { Log } from '../logger.ts';
import type { LeaseTimes } from '../runs/dispatch/connection-state.ts';
import type { StreamLimits } from '../channels/sse/event-streams.ts';
import type { TenancyOptions } from '../tenancy/bootstrap.ts';
import type { TenancyLimits } from '../tenancy/limits.ts';
import type { OidcSettings } from '../tenancy/oidc/settings.ts';
import type { Retention } from './retention.ts';

export interface ServerOptions {
  readonly database: Database;
  /** A direct connection to the same database. Required if `database` is a pooler in transaction mode. */
  readonly directDatabase?: Database | undefined;
  /** The host to listen on. Default `127.0.0.1`. */
  readonly host?: string;
  /** Pauses the installation before anything is started. Default: unchanged. */
  readonly paused?: boolean | undefined;
  /** The port to listen on; 0 for any free one. */
  readonly port: number;
  readonly masterKey: MasterKey;
  readonly log: Log;
  /** Return the credentials of the first start again. For development only. */
  readonly reveal?: boolean;
  /** Settings of the first start, and a function that delivers the credentials it creates. Later starts ignore them. */
  readonly bootstrap?: Pick<TenancyOptions, 'settings' | 'deliver'>;
  readonly rateLimits?: RateLimits;
  /** The bounds of concurrent requests. Default: `defaultAdmissionLimits`. */
  readonly admissionLimits?: Partial<AdmissionLimits> | undefined;
  /** The folder with the built dashboard. Default: that of this package. */
  readonly dashboard?: string | undefined;
  /** The endpoint that the browser calls to decrypt values sealed by a client's codec (`codecHandler` of the SDK). Default: none. */
  readonly codecEndpoint?: string | undefined;
  /** The path under which a proxy publishes the server, such as `/millrace`, without a trailing slash. Default: none. */
  readonly basePath?: string | undefined;
  /** Addresses and ranges of proxies whose `X-Forwarded-For` is trusted. Default: none. */
  readonly trustedProxies?: readonly string[];
  /** Who may read the metrics, and at which address. Default: processes on this machine, on the same port. */
  readonly metrics?: MetricsOptions;
  /** The limits of concurrent event streams. Default: `defaultStreamLimits`. */
  readonly streamLimits?: Partial<StreamLimits>;
  /** Limits for connections without a successful request. Default: `defaultConnectionLimits`. */
  readonly connectionLimits?: Partial<ConnectionLimits>;
  readonly leaseTimes?: Partial<LeaseTimes>;
  readonly retention?: Partial<Retention>;
  /** Limits on new organizations and projects. Default: `defaultTenancyLimits`. */
  readonly tenancyLimits?: Partial<TenancyLimits>;
  /** Maximum bytes of one deployment's files and layers, compressed. Default: `defaultMaxBundleBytes`. */
  readonly maxBundleBytes?: number | undefined;
  /** Finds builds that a runner on this machine registered from a folder, to display their source. Default: none. */
  readonly localBuild?: FindLocalBuild | undefined;
  /** An S3-compatible store for deployment files. Default: the database. */
  readonly bundleStore?: S3Settings | undefined;
  /** Networks that notifications may be sent to in addition to the public Internet, such as `10.0.0.0/8`. Default: none. */
  readonly notificationNetworks?: readonly string[];
  /** The identity provider for the users of an organization. Default: none. */
  readonly oidc?: OidcSettings | undefined;
}
