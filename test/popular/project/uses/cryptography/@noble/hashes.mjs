import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';

export default async () => bytesToHex(sha256(new Uint8Array(1)));
