import type { packetThreshold as contractThreshold, storedType as contractType } from '@millrace/contract';
import type { ApiClient } from '../client/api-client.ts';
import { readContent, sendContent, type TypedText } from './content.ts';

/** The type of a text that is the name of a packet: what it stands for is stored apart. */
export const storedType: typeof contractType = 'application/store';
/** Bytes from which on a payload travels apart from its trigger. */
const packetThreshold: typeof contractThreshold = 131_072;

/** In bytes of UTF-8, of which a character has at most three: short texts are not counted. */
export const isLarge = (text: string): boolean =>
  text.length * 3 >= packetThreshold &&
  (text.length >= packetThreshold || new TextEncoder().encode(text).length >= packetThreshold);

/** Stores a payload and gives the name that its trigger sends instead. */
export async function storePayload(client: ApiClient, content: TypedText): Promise<string> {
  const params = { packet: `trigger/${crypto.randomUUID()}/payload` };
  const { presignedUrl, storagePath } = await client.call('createPacket', { params });
  await sendContent(client.settings, presignedUrl, content);
  return storagePath;
}

/** A text as it is, or what it names where it is stored apart. */
export async function resolveStored(client: () => ApiClient, given: TypedText): Promise<TypedText> {
  if (given.type !== storedType) return given;
  const through = client();
  const { presignedUrl } = await through.call('retrievePacket', { params: { packet: given.text } });
  return readContent(through.settings, presignedUrl);
}
