import nacl from 'tweetnacl';

export default async () => nacl.sign.keyPair.fromSeed(new Uint8Array(32)).publicKey.slice(0, 4).join();
