import { readPacket, type StoredPacket } from './read.ts';
import type { PacketAddresses } from './url.ts';
import { packetType, writePacket, type PacketStore } from './write.ts';

/** Uploads and downloads through signed URLs. */
export const packetContent = (store: PacketStore, addresses: PacketAddresses) => ({
  async put(
    token: string,
    contentType: string | undefined,
    content: AsyncIterable<Uint8Array>,
  ): Promise<void> {
    const { env, name, by = null } = addresses.verify(token, 'put', store.clock.now());
    await writePacket(store, { env, name, contentType: packetType(contentType), by }, content);
  },

  async get(token: string): Promise<StoredPacket | undefined> {
    const { env, name } = addresses.verify(token, 'get', store.clock.now());
    return readPacket(store.sql, env, name);
  },
});
