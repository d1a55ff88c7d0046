import type { Webhook } from '@millrace/contract';
import { runStatusBadges, type Badge } from '../../parts/status/run-status.ts';

const reasons: Readonly<Record<string, string>> = {
  webhook_signature_missing: 'no signature',
  webhook_signature_invalid: 'invalid signature',
  webhook_timestamp_invalid: 'signed time too old or too new',
  webhook_secret_missing: 'secret not set',
};

/** Why a request was rejected, from its error code. */
export const reasonOf = (code: string): string => reasons[code] ?? code;

const schemes: Readonly<Record<Webhook['scheme'], string>> = {
  standard: 'Standard Webhooks',
  svix: 'Svix',
  stripe: 'Stripe',
  github: 'GitHub',
  slack: 'Slack',
  hmac: 'HMAC',
  none: 'not verified',
};

export const schemeOf = ({ scheme }: Pick<Webhook, 'scheme'>): string => schemes[scheme];

/** Whether every request is rejected, because none of the variables with the secret is set. */
export const lacksSecret = ({ secrets }: Pick<Webhook, 'secrets'>): boolean =>
  secrets.length > 0 && secrets.every(({ isSet }) => !isSet);

/** Rejected requests of the last day. */
export const rejectedOf = ({ lastDay }: Pick<Webhook, 'lastDay'>): number =>
  lastDay.rejections.reduce((sum, { count }) => sum + count, 0);

const notStored: Badge = { word: 'Not stored', glyph: 'dotted', tone: 'quiet' };

/** The status of a delivery's run. */
export const statusBadge = (status: string | null): Badge =>
  runStatusBadges[status as keyof typeof runStatusBadges] ?? notStored;

export const webhookPath = (id: string): string => `/webhooks/${encodeURIComponent(id)}`;
export const deliveryPath = (id: string): string => `/webhook-deliveries/${encodeURIComponent(id)}`;
