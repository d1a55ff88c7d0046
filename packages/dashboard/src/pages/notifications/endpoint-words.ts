import type { NotificationEndpoint } from '@millrace/contract';
import type { Look } from '../../parts/status/run-status.ts';

/** The destination: an address, the origin of a chat, or the recipients of the email. */
export const recipientOf = ({ mail, url }: Pick<NotificationEndpoint, 'mail' | 'url'>): string =>
  mail ? mail.to.join(', ') : url;

const on: Look = { word: 'On', glyph: 'disc', tone: 'good' };
const failing: Look = { word: 'Failing', glyph: 'cross', tone: 'bad' };
const offs: Readonly<Record<NonNullable<NotificationEndpoint['disabledBy']>, Look>> = {
  user: { word: 'Off', glyph: 'slashed', tone: 'quiet' },
  failing: { word: 'Off: it failed for days', glyph: 'ringed-cross', tone: 'bad' },
  gone: { word: 'Off: it answered 410', glyph: 'ringed-cross', tone: 'bad' },
};

export const endpointLook = ({ enabled, disabledBy, failingSince }: NotificationEndpoint): Look =>
  enabled ? (failingSince === null ? on : failing) : offs[disabledBy ?? 'user'];
