/**
 * Encrypts values for the database with AES-256-GCM and the master key ("sealing"). A sealed value is bound to its encryption context,
 * which names its row: the same bytes in another row cannot be decrypted.
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
  /** Four bytes that identify the key without revealing anything about it. */
  readonly id: Buffer;
  readonly key: KeyObject;
  /** During a rotation, the other key, which is only used to decrypt. */
  readonly previous?: MasterKey;
}

/**
 * Switches this process to another master key while it serves. `masterKey` is changed in place and keeps its old key as `previous`.
 */
export function switchMasterKey(masterKey: MasterKey, next: MasterKey): void {
  if (next.id.equals(masterKey.id)) return;
  const { id, key } = masterKey;
  Object.assign(masterKey, { id: next.id, key: next.key, previous: { id, key } });
}

/** A sealed value cannot be decrypted because of a different master key, a different encryption context, or corrupted bytes. */
export class UnsealError extends Error {
  override name = 'UnsealError';
}

export function masterKeyOf(bytes: Buffer): MasterKey {
  if (bytes.length !== 32) throw new RangeError('a master key has 32 bytes');
  const id = hash('sha256', Buffer.concat([Buffer.from('millrace master key id\n'), bytes]), 'buffer');
  return { id: id.subarray(0, 4), key: createSecretKey(bytes) };
}

/** Encrypts `text`. `context` names its table and row, such as `secret_keys:key_1`. */
export function seal(masterKey: MasterKey, text: string, context: string): Buffer {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', masterKey.key, nonce);
  cipher.setAAD(Buffer.from(context));
  const ciphertext = [cipher.update(text, 'utf8'), cipher.final()];
  return Buffer.concat([Buffer.from([format]), masterKey.id, nonce, cipher.getAuthTag(), ...ciphertext]);
}

/** Whether it was sealed with this key rather than the previous one. */
export const isSealedWith = ({ id }: MasterKey, sealed: Uint8Array): boolean =>
  id.equals(sealed.subarray(1, nonceAt));

/** Decrypts what `seal` encrypted with the same context; otherwise throws {@link UnsealError}. */
export function unseal(masterKey: MasterKey, sealed: Uint8Array, context: string): string {
  const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength);
  if (bytes.length < textAt || bytes[0] !== format) throw new UnsealError(`Not a sealed value (${context}).`);
  const sealedWith = bytes.subarray(1, nonceAt);
  const { previous } = masterKey;
  const opener = previous && sealedWith.equals(previous.id) ? previous : masterKey;
  if (!sealedWith.equals(opener.id)) throw new UnsealError(`Sealed with another master key (${context}).`);
  const decipher = createDecipheriv('aes-256-gcm', opener.key, bytes.subarray(nonceAt, tagAt), {
    authTagLength: 16,
  });
  decipher.setAAD(Buffer.from(context));
  decipher.setAuthTag(bytes.subarray(tagAt, textAt));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(textAt)), decipher.final()]).toString('utf8');
  } catch {
    throw new UnsealError(`Sealed for another context, or damaged (${context}).`);
  }
}

/**
 * Encryption contexts of credentials. By convention, a sealed column is named `sealed…` and its context is `<table>:<id>`, which is how the
 * rotation of the master key finds it.
 */
export const secretKeyContext = (id: string): string => `secret_keys:${id}`;
export const personalAccessTokenContext = (id: string): string => `personal_access_tokens:${id}`;
export const oidcIdentityContext = (id: string): string => `oidc_identities:${id}`;
export const signingKeyContext = (id: string): string => `signing_keys:${id}`;
