import type { Body, EndpointKind, Operations } from '@millrace/contract';
import { unprocessable } from '../problem.ts';
import { checkUrl, type Egress } from './check-url.ts';
import type { MailSettings } from './endpoint.ts';
import { newSecret } from './sign.ts';

/** The stored data about an endpoint's destination. */
export interface Destination {
  readonly kind: EndpointKind;
  /** The URL without secrets. */
  readonly url: string;
  readonly mail: MailSettings | null;
  /** The sealed part: the signing secret of a webhook, the full URL of a chat, or the mail password (empty for none). */
  readonly secret: string;
}

/** The destination of a new endpoint. 422 for an address that is not allowed. */
export function destinationOf(
  body: Body<Operations['createNotificationEndpoint']>,
  egress: Egress,
): Destination {
  if (body.kind === 'email') return mailDestination(body, egress);
  checkUrl(body.url, egress);
  return body.kind === 'slack'
    ? { kind: 'slack', url: new URL(body.url).origin, mail: null, secret: body.url }
    : { kind: 'webhook', url: body.url, mail: null, secret: newSecret() };
}

interface Mail {
  readonly smtp: MailSettings['smtp'] & { readonly password?: string | undefined };
  readonly from: string;
  readonly to: string[];
}

export function mailDestination(
  { smtp: { password = '', ...smtp }, from, to }: Mail,
  egress: Egress,
): Destination {
  checkUrl(connectUrlOf(smtp), egress, 'smtp.host');
  const url = `${smtp.security === 'tls' ? 'smtps' : 'smtp'}://${inUrl(smtp.host)}:${smtp.port}`;
  return { kind: 'email', url, mail: { smtp, from, to }, secret: password };
}

/** The rules for addresses are those of webhooks; an unencrypted connection counts as http. */
export function connectUrlOf({ host, port, security }: MailSettings['smtp']): string {
  const text = `${security === 'none' ? 'http' : 'https'}://${inUrl(host)}:${port}`;
  if (!URL.canParse(text)) throw unprocessable('smtp.host: must be a host name or an IP address.');
  return text;
}

const inUrl = (host: string): string => (host.includes(':') && !host.startsWith('[') ? `[${host}]` : host);
