import type { packetThreshold as contractThreshold, storedType as contractType } from '@millrace/contract';
import type { ApiClient } from '../client/api-client.ts';
import { readContent, sendContent, type TypedText } from './content.ts';

/** The content type of a text that names a packet. */
export const storedType: typeof contractType = 'application/store';
/** Payloads of at least this many bytes are stored as packets. */
const packetThreshold: typeof contractThreshold = 131_072;

/** Counts UTF-8 bytes, but only if necessary: a UTF-16 unit has at most three. */
export const isLarge = (text: string): boolean =>
  text.length * 3 >= packetThreshold &&
  (text.length >= packetThreshold || new TextEncoder().encode(text).length >= packetThreshold);

/** Stores a payload and returns the packet name that its trigger sends instead. */
export async function storePayload(client: ApiClient, content: TypedText): Promise<string> {
  const params = { packet: `trigger/${crypto.randomUUID()}/payload` };
  const { presignedUrl, storagePath } = await client.call('createPacket', { params });
  await sendContent(client.settings, presignedUrl, content);
  return storagePath;
}

/** Returns the text, or the content of the packet that it names. */
export async function resolveStored(client: () => ApiClient, input: TypedText): Promise<TypedText> {
  if (input.type !== storedType) return input;
  const through = client();
  const { presignedUrl } = await through.call('retrievePacket', { params: { packet: input.text } });
  return readContent(through.settings, presignedUrl);
}
