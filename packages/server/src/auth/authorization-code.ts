/** Codes by which a machine is let in: one that it keeps, and one that its user types where they are logged in (RFC 8628). */
import { randomBytes, randomInt } from 'node:crypto';

/** No vowels, so that no words come out, and nothing that looks like something else. */
const alphabet = 'BCDFGHJKLMNPQRSTVWXZ';
const length = 8;
const form = new RegExp(`^[${alphabet}]{${length}}$`);

/** `svc_code_` and 256 bits. */
export const newDeviceCode = (): string => `svc_code_${randomBytes(32).toString('base64url')}`;

/** Such as `WDJB-MJHT`: 34 bits, which is enough for ten minutes and few tries. */
export function newUserCode(): string {
  let letters = '';
  for (let i = 0; i < length; i++) letters += alphabet.charAt(randomInt(alphabet.length));
  return `${letters.slice(0, 4)}-${letters.slice(4)}`;
}

/** A user code as somebody typed it, in the form in which it was made; undefined if it cannot be one. */
export function readUserCode(text: string): string | undefined {
  const letters = text.toUpperCase().replace(/[\s-]/g, '');
  if (!form.test(letters)) return undefined;
  return `${letters.slice(0, 4)}-${letters.slice(4)}`;
}
