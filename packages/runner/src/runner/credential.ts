import { createHmac } from 'node:crypto';
import { attemptAudience, attemptMarker, type AttemptClaims } from '@millrace/contract/runner';

/** Short, because the runner can issue another one, but long enough for a request with all its retries. */
const lifetimeSeconds = 600;
/** Seconds after which the code requests the next one. */
const useSeconds = 240;

export interface Credential {
  readonly text: string;
  /** How long calls may start with it, in milliseconds. */
  readonly goodForMs: number;
}

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const header = encoded({ alg: 'HS256', typ: 'JWT' });

/** Signs credentials of attempts with the runner's secret key, without a request. */
export class Credentials {
  readonly #secretKey: string;
  #environment = '';
  /** The server's clock minus the local monotonic clock. */
  #offset = Date.now() - performance.now();

  constructor(secretKey: string) {
    this.#secretKey = secretKey;
  }

  /** Sets the server's time. Returns whether issued credentials may have expired too early because the server's clock was set ahead. */
  learn(environment: string, now: number): boolean {
    this.#environment = environment;
    const before = this.#offset;
    this.#offset = now - performance.now();
    return this.#offset - before > (useSeconds / 4) * 1_000;
  }

  of({ run, fence }: { readonly run: string; readonly fence: number }): Credential {
    const iat = Math.floor((performance.now() + this.#offset) / 1_000);
    const claims: AttemptClaims = {
      aud: attemptAudience,
      sub: this.#environment,
      run,
      fence,
      iat,
      exp: iat + lifetimeSeconds,
    };
    const signed = `${header}.${encoded(claims)}`;
    const signature = createHmac('sha256', this.#secretKey).update(signed).digest('base64url');
    return { text: `${attemptMarker}${signed}.${signature}`, goodForMs: useSeconds * 1_000 };
  }
}
