import { z } from 'zod';
import { operation } from '../operation.ts';

/** Payloads and outputs of at least this size in bytes are stored separately from their run, as packets. */
export const packetThreshold = 128 * 1024;
/** Maximum size of a packet in bytes: 10 MiB. */
export const maxPacketBytes = 10 * 1024 * 1024;
/** Maximum number of characters of a packet's name. */
export const maxPacketNameCharacters = 512;

/** The type of a payload or output that is the name of a packet. The packet has the type of its content. */
export const storedType = 'application/store';

/** The type of a payload or output that a client's codec sealed: an envelope that only the client can open. */
export const sealedType = 'application/x-millrace-sealed+json';

/** The name of a packet: letters, digits and punctuation, with slashes between parts. In a path it is one encoded segment. */
const name = z
  .string()
  .min(1)
  .max(maxPacketNameCharacters)
  .refine(
    // Matching control characters is intended here.
    (text) => text.isWellFormed() && !/[\u0000-\u001f\u007f\\]/.test(text),
    'must not contain control characters or backslashes',
  )
  .refine(
    (text) => text.split('/').every((part) => part !== '' && part !== '.' && part !== '..'),
    'must be parts with single slashes between them, none of them . or ..',
  );

const params = z.object({ packet: name });

const reply = z.object({
  /** Where its content is uploaded (PUT) or downloaded (GET), for five minutes and without a credential. */
  presignedUrl: z.string(),
  /** The payload of the trigger, with the type `application/store`. */
  storagePath: z.string(),
});

/**
 * An upload names no task: the handler requires permission to trigger any task, and the trigger that uses the packet requires it for that task.
 * It does not use up a one-time token.
 */
const upload = {
  method: 'PUT',
  tag: 'packets',
  unlimited: true,
  access: {
    secretKey: true,
    publicToken: true,
    action: 'trigger',
    on: 'tasks',
    objects: true,
    oneTime: true,
  },
  params,
  reply,
} as const;

export const createPacket = operation({
  ...upload,
  id: 'createPacket',
  path: '/api/v2/packets/:packet',
  summary: 'Create an upload URL for a large payload, before the trigger that references it',
});

export const createPacketV1 = operation({
  ...upload,
  id: 'createPacketV1',
  path: '/api/v1/packets/:packet',
  summary: 'Same as createPacket, at the path that older clients use',
});

export const readsPacket = {
  method: 'GET',
  tag: 'packets',
  unlimited: true,
  // A public token can read the data of the runs that it may read.
  access: { secretKey: true, publicToken: true, action: 'read', on: 'runs', objects: true },
  params,
  reply,
  errors: [404],
} as const;

export const retrievePacket = operation({
  ...readsPacket,
  id: 'retrievePacket',
  path: '/api/v1/packets/:packet',
  summary: 'Create a download URL for a stored payload or output',
});

export const retrievePacketV2 = operation({
  ...readsPacket,
  id: 'retrievePacketV2',
  path: '/api/v2/packets/:packet',
  summary: 'Same as retrievePacket',
});
