/**
 * Texts that must be read again but never lie in the database in clear: AES-256-GCM under the master key.
 * A sealed text is bound to its place: the same bytes moved to another row do not open.
 *
 * Layout: format (1 byte) · key id (4) · nonce (12) · tag (16) · ciphertext.
 */
import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  hash,
  randomBytes,
  type KeyObject,
} from 'node:crypto';

const format = 1;
const nonceAt = 5;
const tagAt = nonceAt + 12;
const textAt = tagAt + 16;

export interface MasterKey {
  /** Four bytes that tell one key from another and say nothing about it. */
  readonly id: Buffer;
  readonly key: KeyObject;
  /** While keys are changed: the other one, which opens what it sealed and seals nothing. */
  readonly previous?: MasterKey;
}

/**
 * Seals with another key from now on, in whatever part of this process holds `masterKey`; what it sealed before opens still. For a
 * process that changes its key while it serves.
 */
export function turnMasterKey(masterKey: MasterKey, next: MasterKey): void {
  if (next.id.equals(masterKey.id)) return;
  const { id, key } = masterKey;
  Object.assign(masterKey, { id: next.id, key: next.key, previous: { id, key } });
}

/** A sealed text that does not open: another master key, another place, or damaged bytes. */
export class SealBroken extends Error {
  override name = 'SealBroken';
}

export function masterKeyOf(bytes: Buffer): MasterKey {
  if (bytes.length !== 32) throw new RangeError('a master key has 32 bytes');
  const id = hash('sha256', Buffer.concat([Buffer.from('millrace master key id\n'), bytes]), 'buffer');
  return { id: id.subarray(0, 4), key: createSecretKey(bytes) };
}

/** Seals `text` for the place that `aad` names, such as `secret_keys:key_1` (purpose and row). */
export function seal(masterKey: MasterKey, text: string, aad: string): Buffer {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', masterKey.key, nonce);
  cipher.setAAD(Buffer.from(aad));
  const ciphertext = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([Buffer.from([format]), masterKey.id, nonce, cipher.getAuthTag(), ciphertext]);
}

/** Whether the key itself sealed it, and not the one before it. */
export const isSealedWith = ({ id }: MasterKey, sealed: Uint8Array): boolean =>
  id.equals(sealed.subarray(1, nonceAt));

/** Opens what `seal` made for the same place; otherwise throws {@link SealBroken}. */
export function unseal(masterKey: MasterKey, sealed: Uint8Array, aad: string): string {
  const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength);
  if (bytes.length < textAt || bytes[0] !== format) throw new SealBroken(`Not a sealed text (${aad}).`);
  const sealedWith = bytes.subarray(1, nonceAt);
  const { previous } = masterKey;
  const opener = previous && sealedWith.equals(previous.id) ? previous : masterKey;
  if (!sealedWith.equals(opener.id)) throw new SealBroken(`Sealed with another master key (${aad}).`);
  const decipher = createDecipheriv('aes-256-gcm', opener.key, bytes.subarray(nonceAt, tagAt), {
    authTagLength: 16,
  });
  decipher.setAAD(Buffer.from(aad));
  decipher.setAuthTag(bytes.subarray(tagAt, textAt));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(textAt)), decipher.final()]).toString('utf8');
  } catch {
    throw new SealBroken(`Sealed for another place, or damaged (${aad}).`);
  }
}

/**
 * The places that credentials are sealed for. A column that holds something sealed is called `sealed…` and its place is
 * `<table>:<id>`: by that a change of the master key finds it.
 */
export const secretKeyPlace = (id: string): string => `secret_keys:${id}`;
export const personalAccessTokenPlace = (id: string): string => `personal_access_tokens:${id}`;
export const signingKeyPlace = (id: string): string => `signing_keys:${id}`;
