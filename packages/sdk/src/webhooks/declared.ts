import type { TaskManifest } from '@millrace/contract/runner';
import type { WebhookVerification } from './verification.ts';

type Refuse = (field: string, rule: string, value: unknown) => never;

const named = ['standard', 'svix', 'stripe', 'github', 'slack'] as const;
const schemes = [...named, 'hmac', 'none'];
const algorithms = ['sha256', 'sha1', 'sha512'];
const maxSecrets = 5;

const isVariableName = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= 255 && /^[A-Za-z_][A-Za-z0-9_]*$/.test(value);
const isHeaderName = (value: unknown): value is string =>
  typeof value === 'string' && /^[A-Za-z0-9_-]{1,128}$/.test(value);

/** The webhook of a task for the manifest. */
export function declaredWebhook(
  refuse: Refuse,
  verify: WebhookVerification,
): NonNullable<TaskManifest['webhook']> {
  const options: unknown = verify;
  if (typeof options !== 'object' || options === null)
    refuse(
      'verify',
      "must be an object such as { scheme: 'stripe', secret: 'STRIPE_WEBHOOK_SECRET' }",
      verify,
    );
  const { scheme } = verify;
  if (!schemes.includes(scheme)) refuse('verify.scheme', `must be one of ${schemes.join(', ')}`, scheme);
  if (verify.scheme === 'none') return { verify: { scheme: verify.scheme, ...idHeaderOf(refuse, verify) } };
  const secrets = secretsOf(refuse, verify.secret);
  if (verify.scheme !== 'hmac') return { verify: { scheme: verify.scheme, secrets } };
  const { header, algorithm = 'sha256', encoding = 'hex', prefix } = verify;
  if (!isHeaderName(header)) refuse('verify.header', 'must be the name of a header', header);
  if (!algorithms.includes(algorithm))
    refuse('verify.algorithm', `must be one of ${algorithms.join(', ')}`, algorithm);
  if (encoding !== 'hex' && encoding !== 'base64')
    refuse('verify.encoding', 'must be hex or base64', encoding);
  if (prefix !== undefined && (typeof prefix !== 'string' || prefix.length > 64))
    refuse('verify.prefix', 'must be a text of at most 64 characters', prefix);
  return {
    verify: {
      scheme: verify.scheme,
      secrets,
      header,
      algorithm,
      encoding,
      ...(prefix !== undefined && { prefix }),
      ...idHeaderOf(refuse, verify),
    },
  };
}

/** The value of an invalid name is not shown: it may be the secret itself. */
function secretsOf(refuse: Refuse, secret: string | readonly string[]): string[] {
  const names = typeof secret === 'string' ? [secret] : secret;
  const isList = Array.isArray(names) && names.length >= 1 && names.length <= maxSecrets;
  if (!isList || !names.every(isVariableName)) {
    const rule = `must be the name of an environment variable with the secret, such as STRIPE_WEBHOOK_SECRET, or a list of up to ${maxSecrets} names`;
    refuse('verify.secret', rule, secret === undefined ? undefined : 'another value');
  }
  return [...names];
}

function idHeaderOf(refuse: Refuse, { idHeader }: { readonly idHeader?: string }): { idHeader?: string } {
  if (idHeader === undefined) return {};
  if (!isHeaderName(idHeader)) refuse('verify.idHeader', 'must be the name of a header', idHeader);
  return { idHeader };
}
