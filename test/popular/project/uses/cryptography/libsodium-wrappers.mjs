import sodium from 'libsodium-wrappers';

export default async () => {
  await sodium.ready;
  return sodium.to_hex(sodium.crypto_generichash(8, 'a'));
};
