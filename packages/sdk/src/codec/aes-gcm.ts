import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { SealedError, type Clearable, type Codec, type CodecContext } from '../sealing/codec.ts';
import { readKey, type KeySource } from './key-source.ts';

export interface AesGcmCodecOptions {
  /** Keys by an id of your choice, such as `k1`. The id is stored with everything that the key seals. */
  readonly keys: Readonly<Record<string, KeySource>>;
  /** The id of the key that seals. The other keys only open. */
  readonly current: string;
  /**
   * A text that must be equal on both sides, such as `billing/prod`: data sealed with a different context cannot be opened, even with the
   * same key. Default: empty.
   */
  readonly boundTo?: string;
  /** Kinds of data that are not sealed. Default: none. */
  readonly clear?: readonly Clearable[];
}

const algorithm = 'aes-256-gcm';
const saltBytes = 16;
const nonceBytes = 12;
const tagBytes = 16;
const overhead = saltBytes + nonceBytes + tagBytes;
/** Texts sealed per derived key: far below 2^32, the limit up to which random nonces are safe. */
const textsPerSalt = 2 ** 24;
/** Number of derived keys in the cache. A process that seals uses one at a time, but a reader needs those of many processes. */
const maxDerived = 1_000;

interface Derived {
  readonly salt: Buffer;
  readonly key: Buffer;
}

/**
 * Seals with AES-256-GCM. Each process derives its own key from the current one (HKDF-SHA-256, random salt), so any number of processes may
 * seal any number of texts. The purpose of a text, its type and the key's id are authenticated. Keys are read on first use; if a key is
 * missing, an Error names it.
 *
 * To rotate: add the new key everywhere, then make it `current`, and remove the old one when no stored data sealed with it remains.
 *
 * @example
 * // codec.ts
 * export default aesGcmCodec({
 *   keys: { k1: { env: 'CODEC_KEY_1' }, k2: { file: '/run/secrets/codec-key-2' } },
 *   current: 'k2',
 *   boundTo: 'billing/prod',
 * });
 */
export function aesGcmCodec({ keys, current, boundTo = '', clear }: AesGcmCodecOptions): Codec {
  if (!Object.hasOwn(keys, current))
    throw new TypeError(`aesGcmCodec: current is ${JSON.stringify(current)}, which is not in keys.`);
  const read = new Map<string, Buffer>();
  const derived = new Map<string, Buffer>();
  let own: (Derived & { left: number }) | undefined;

  const named = (id: string): Buffer => {
    let key = read.get(id);
    if (!key) read.set(id, (key = readKey(id, keys[id]!)));
    return key;
  };
  const derive = (id: string, salt: Buffer): Buffer =>
    Buffer.from(hkdfSync('sha256', named(id), salt, 'millrace codec 1', 32));
  const derivedOf = (id: string, salt: Buffer): Buffer => {
    const name = `${id} ${salt.toString('base64')}`;
    let key = derived.get(name);
    if (!key) {
      key = derive(id, salt);
      if (derived.size >= maxDerived) derived.clear();
      derived.set(name, key);
    }
    return key;
  };
  const forSealing = (): Derived => {
    if (!own || own.left === 0) {
      const salt = randomBytes(saltBytes);
      own = { salt, key: derive(current, salt), left: textsPerSalt };
    }
    own.left -= 1;
    return own;
  };
  const bound = (id: string, { purpose, type }: CodecContext): Buffer =>
    Buffer.from(JSON.stringify(['millrace', 1, boundTo, id, purpose, type]));

  return {
    clear,
    encode(text, context) {
      const { salt, key } = forSealing();
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv(algorithm, key, nonce, { authTagLength: tagBytes });
      cipher.setAAD(bound(current, context));
      const sealed = [salt, nonce, cipher.update(text, 'utf8'), cipher.final()];
      return { key: current, data: Buffer.concat([...sealed, cipher.getAuthTag()]).toString('base64') };
    },
    decode({ key: id, data }, context) {
      const what = `The ${context.purpose} is sealed with key ${JSON.stringify(id)}`;
      if (!Object.hasOwn(keys, id)) {
        const known = Object.keys(keys)
          .map((item) => JSON.stringify(item))
          .join(', ');
        throw new SealedError(`${what}, which the codec does not have; it has ${known}.`);
      }
      const bytes = Buffer.from(data, 'base64');
      if (bytes.length < overhead) throw new SealedError(`${what}, but is truncated and cannot be opened.`);
      const salt = bytes.subarray(0, saltBytes);
      const nonce = bytes.subarray(saltBytes, saltBytes + nonceBytes);
      const decipher = createDecipheriv(algorithm, derivedOf(id, salt), nonce, { authTagLength: tagBytes });
      decipher.setAAD(bound(id, context));
      decipher.setAuthTag(bytes.subarray(-tagBytes));
      try {
        const parts = [decipher.update(bytes.subarray(saltBytes + nonceBytes, -tagBytes)), decipher.final()];
        return Buffer.concat(parts).toString('utf8');
      } catch {
        throw new SealedError(
          `${what}, but cannot be opened with the local key of this id: the key or boundTo differs, or the data was modified.`,
        );
      }
    },
  };
}
