import { webhookToleranceMs } from '@millrace/contract';
import type { WebhookVerification } from '@millrace/contract/runner';
import { signGithub, verifyGithub } from './github.ts';
import { signHmac, verifyHmac } from './hmac.ts';
import { headerOf, type SignedRequest, type Unsigned, type Verdict } from './scheme.ts';
import { signSlack, verifySlack } from './slack.ts';
import { signStandard, verifyStandard } from './standard.ts';
import { signStripe, verifyStripe } from './stripe.ts';

/** Checks the signature of a request, and its signed time if the scheme has one. */
export function verifyRequest(
  verification: WebhookVerification,
  secrets: readonly string[],
  request: SignedRequest,
  now: number,
): Verdict {
  const verdict = verifySignature(verification, secrets, request);
  if (typeof verdict === 'string' || verdict.signedAt === undefined) return verdict;
  return Math.abs(now - verdict.signedAt) <= webhookToleranceMs ? verdict : 'webhook_timestamp_invalid';
}

function verifySignature(
  verification: WebhookVerification,
  secrets: readonly string[],
  request: SignedRequest,
): Verdict {
  switch (verification.scheme) {
    case 'standard':
      return verifyStandard(request, secrets, 'webhook');
    case 'svix':
      return verifyStandard(request, secrets, 'svix');
    case 'stripe':
      return verifyStripe(request, secrets);
    case 'github':
      return verifyGithub(request, secrets);
    case 'slack':
      return verifySlack(request, secrets);
    case 'hmac':
      return verifyHmac(request, secrets, verification);
    case 'none': {
      const { idHeader } = verification;
      return { senderId: idHeader === undefined ? undefined : headerOf(request.headers, idHeader) };
    }
  }
}

/** The headers with which the sender would sign a request. */
export function signRequest(
  verification: WebhookVerification,
  secret: string,
  request: Unsigned,
): Readonly<Record<string, string>> {
  switch (verification.scheme) {
    case 'standard':
      return signStandard(request, secret, 'webhook');
    case 'svix':
      return signStandard(request, secret, 'svix');
    case 'stripe':
      return signStripe(request, secret);
    case 'github':
      return signGithub(request, secret);
    case 'slack':
      return signSlack(request, secret);
    case 'hmac':
      return signHmac(request, secret, verification);
    case 'none':
      return verification.idHeader === undefined ? {} : { [verification.idHeader.toLowerCase()]: request.id };
  }
}
