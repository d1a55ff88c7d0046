/** Codecs, for Node.js. See docs/encryption.md. */
export { aesGcmCodec, type AesGcmCodecOptions } from './aes-gcm.ts';
export { codecHandler, type CodecHandlerOptions } from './handler.ts';
export type { KeySource } from './key-source.ts';
export { openForPeople } from './open-for-people.ts';
export {
  SealedError,
  type Clearable,
  type Codec,
  type CodecContext,
  type SealedText,
} from '../sealing/codec.ts';
export { isSealed, type Envelope } from '../sealing/envelope.ts';
