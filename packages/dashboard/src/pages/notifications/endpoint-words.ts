import type { NotificationEndpoint } from '@millrace/contract';
import type { Badge } from '../../parts/status/run-status.ts';

/** The destination: an address, the origin of a chat, or the recipients of the email. */
export const recipientOf = ({ mail, url }: Pick<NotificationEndpoint, 'mail' | 'url'>): string =>
  mail ? mail.to.join(', ') : url;

const on: Badge = { word: 'On', glyph: 'disc', tone: 'good' };
const failing: Badge = { word: 'Failing', glyph: 'cross', tone: 'bad' };
const offs: Readonly<Record<NonNullable<NotificationEndpoint['disabledBy']>, Badge>> = {
  user: { word: 'Off', glyph: 'slashed', tone: 'quiet' },
  failing: { word: 'Off: failed for days', glyph: 'ringed-cross', tone: 'bad' },
  gone: { word: 'Off: responded with 410', glyph: 'ringed-cross', tone: 'bad' },
};

export const endpointBadge = ({ enabled, disabledBy, failingSince }: NotificationEndpoint): Badge =>
  enabled ? (failingSince === null ? on : failing) : offs[disabledBy ?? 'user'];
