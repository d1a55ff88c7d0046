/** The text of credentials: generating, recognizing and hashing it. */
import { hash, randomInt } from 'node:crypto';
import { environmentKinds, type EnvironmentKind } from '@millrace/contract';
import { attemptMarker } from '@millrace/contract/runner';

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const tokenAlphabet = '123456789abcdefghijkmnopqrstuvwxyz';
const lowerCase = 'abcdefghijklmnopqrstuvwxyz';

function random(alphabet: string, count: number): string {
  let text = '';
  for (let i = 0; i < count; i++) text += alphabet.charAt(randomInt(alphabet.length));
  return text;
}

/** `svc_prod_sk_` and 24 letters and digits: 142 bits. */
export const newSecretKey = (kind: EnvironmentKind): string => `svc_${kind}_sk_${random(base62, 24)}`;

/** `svc_pat_` and 40 characters that are hard to confuse: 203 bits. */
export const newPersonalAccessToken = (): string => `svc_pat_${random(tokenAlphabet, 40)}`;

/** `svc_inv_` and 40 characters; the holder can become a member. */
export const newInvitationToken = (): string => `svc_inv_${random(tokenAlphabet, 40)}`;

/** `svc_browser_` and 40 characters: the value of a browser session's cookie. */
export const newBrowserToken = (): string => `svc_browser_${random(tokenAlphabet, 40)}`;

/** `svc_link_` and 40 characters; logs a browser in once. */
export const newLinkToken = (): string => `svc_link_${random(tokenAlphabet, 40)}`;

/** `proj_` and 20 lower-case letters. */
export const newProjectRef = (): string => `proj_${random(lowerCase, 20)}`;

const secretKey = new RegExp(`^(?:svc|tr)_(?:${environmentKinds.join('|')})_(?:sk_)?[0-9A-Za-z]{24}$`);
const personalAccessToken = /^(?:svc|tr)_pat_[1-9a-km-z]{40}$/;
const browserToken = /^svc_browser_[1-9a-km-z]{40}$/;
const projectRef = /^proj_[a-z]{20}$/;
const publicToken = /^eyJ[\w-]*\.[\w-]+\.[\w-]*$/;
const attempt = new RegExp(`^${attemptMarker}eyJ[\\w-]*\\.[\\w-]+\\.[\\w-]*$`);

export const isProjectRef = (text: string): boolean => projectRef.test(text);

export const isBrowserToken = (text: string): boolean => browserToken.test(text);

export type CredentialForm = 'secretKey' | 'personalAccessToken' | 'publicToken' | 'attempt';

/** The kind of a credential, judging by its form alone. */
export function credentialForm(text: string): CredentialForm | undefined {
  if (secretKey.test(text)) return 'secretKey';
  if (publicToken.test(text)) return 'publicToken';
  if (attempt.test(text)) return 'attempt';
  return personalAccessToken.test(text) ? 'personalAccessToken' : undefined;
}

/** The key with each of the two prefixes; the stored form first. */
export function markerForms(text: string): readonly [svc: string, tr: string] {
  const rest = text.slice(text.indexOf('_'));
  return [`svc${rest}`, `tr${rest}`];
}

/** The digest by which a credential is looked up. The digest is the same for both prefixes of a key. */
export const credentialDigest = (text: string): Buffer => hash('sha256', markerForms(text)[0], 'buffer');

/** The last characters of a credential, for people to recognize it by. */
export const lastFour = (text: string): string => text.slice(-4);
