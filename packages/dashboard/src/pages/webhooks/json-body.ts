import type { WebhookDelivery } from '@millrace/contract';
import { parsedJson } from '../../parts/json/parsed-json.ts';

/**
 * The value of a body that is JSON by its content type; undefined for any other body.
 *
 * @example jsonBody({ headers: { 'content-type': 'application/json' }, rawBody: '[1]', isBase64Encoded: false }) // { value: [1] }
 */
export function jsonBody({
  headers,
  rawBody,
  isBase64Encoded,
}: Pick<WebhookDelivery, 'headers' | 'rawBody' | 'isBase64Encoded'>):
  | { readonly value: unknown }
  | undefined {
  const type = headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (isBase64Encoded || !(type === 'application/json' || type.endsWith('+json'))) return undefined;
  const value = parsedJson(rawBody);
  return value === undefined ? undefined : { value };
}
