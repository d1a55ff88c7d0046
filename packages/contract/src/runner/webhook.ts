import { z } from 'zod';

/** Maximum number of variables in which the secret of a webhook is searched. */
export const maxWebhookSecrets = 5;

const variableName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,254}$/);
const secrets = z.array(variableName).min(1).max(maxWebhookSecrets);
const headerName = z.string().regex(/^[A-Za-z0-9_-]{1,128}$/);

/** Signature schemes that need no further settings. */
export const namedWebhookSchemes = ['standard', 'svix', 'stripe', 'github', 'slack'] as const;
export const hmacAlgorithms = ['sha256', 'sha1', 'sha512'] as const;
export const hmacEncodings = ['hex', 'base64'] as const;

/**
 * How the requests of a webhook are verified. `secrets` are the names of environment variables: a signature with the value of any of them is
 * valid, so that a secret can be rotated.
 */
export const webhookVerification = z.discriminatedUnion('scheme', [
  z.object({ scheme: z.enum(namedWebhookSchemes), secrets }),
  z.object({
    scheme: z.literal('hmac'),
    secrets,
    /** The header with the signature of the body. */
    header: headerName,
    algorithm: z.enum(hmacAlgorithms),
    encoding: z.enum(hmacEncodings),
    /** Text before the signature, such as `sha256=`. */
    prefix: z.string().max(64).optional(),
    /** The header with the sender's id of the request. */
    idHeader: headerName.optional(),
  }),
  z.object({ scheme: z.literal('none'), idHeader: headerName.optional() }),
]);
export type WebhookVerification = z.infer<typeof webhookVerification>;
export type WebhookScheme = WebhookVerification['scheme'];

/** The webhook whose requests start runs of a task. */
export const taskWebhook = z.object({ verify: webhookVerification });
