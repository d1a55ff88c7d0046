/** The signatures of a provider, or of [Standard Webhooks](https://www.standardwebhooks.com). */
export interface SignedWebhook {
  scheme: 'standard' | 'svix' | 'stripe' | 'github' | 'slack';
  /**
   * The name of the environment variable with the secret, such as `STRIPE_WEBHOOK_SECRET`. With several names, at most 5, a signature with the
   * value of any of them is valid: add the new secret under the second name, change it at the provider, then remove the old one.
   */
  secret: string | readonly string[];
}

/** An HMAC of the body in a header. */
export interface HmacWebhook {
  scheme: 'hmac';
  /** As for the other schemes: names of environment variables. */
  secret: string | readonly string[];
  /** The header with the signature, such as `X-Signature`. */
  header: string;
  /** Default `sha256`. */
  algorithm?: 'sha256' | 'sha1' | 'sha512';
  /** Default `hex`. */
  encoding?: 'hex' | 'base64';
  /** Text before the signature, such as `sha256=`. Default: none. */
  prefix?: string;
  /** The header with the sender's id of the request. Default: requests with the same body are the same. */
  idHeader?: string;
}

/** No verification: anyone who knows the address may start runs. */
export interface UnverifiedWebhook {
  scheme: 'none';
  /** The header with the sender's id of the request. Default: each request is a new one. */
  idHeader?: string;
}

/** How the requests of a webhook are verified. Secrets are named, never passed: the server reads them from the environment's variables. */
export type WebhookVerification = SignedWebhook | HmacWebhook | UnverifiedWebhook;
