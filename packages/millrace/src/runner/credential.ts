import { createHmac } from 'node:crypto';
import { attemptAudience, attemptMarker, type AttemptClaims } from '@millrace/contract/runner';

/** Short, since nothing but the runner need be asked for the next one; long enough for a request with all its retries. */
const lifetimeSeconds = 600;
/** Its code asks for another one after so much of that. */
const useSeconds = 240;

export interface Credential {
  readonly text: string;
  /** Milliseconds for which calls may begin with it. */
  readonly goodForMs: number;
}

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const header = encoded({ alg: 'HS256', typ: 'JWT' });

/** Makes credentials of attempts here, with the runner's secret key: nobody is asked. */
export class Credentials {
  readonly #secretKey: string;
  #environment = '';
  /** Server's clock minus ours, which does not jump. */
  #offset = Date.now() - performance.now();

  constructor(secretKey: string) {
    this.#secretKey = secretKey;
  }

  /** As the server says when a connection is made. */
  learn(environment: string, now: number): void {
    this.#environment = environment;
    this.#offset = now - performance.now();
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
