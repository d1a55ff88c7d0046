import { z } from 'zod';
import { operation } from '../operation.ts';

/** Payloads and outputs from this size on, in bytes, travel apart from their run, as packets. */
export const packetThreshold = 128 * 1024;
/** Largest packet in bytes: 10 MiB. */
export const maxPacketBytes = 10 * 1024 * 1024;
/** Most characters of a packet's name. */
export const maxPacketNameCharacters = 512;

/** The type of a payload or an output that is the name of a packet. The packet has the type of what it holds. */
export const storedType = 'application/store';

/** The type of a payload or an output that a codec of the client sealed: an envelope, which only the client can open. */
export const sealedType = 'application/x-millrace-sealed+json';

/** Of one packet: letters, digits and signs, with slashes between parts. In a path it is one segment, encoded. */
const name = z
  .string()
  .min(1)
  .max(maxPacketNameCharacters)
  .refine(
    // Control characters are what is refused.
    (text) => text.isWellFormed() && !/[\u0000-\u001f\u007f\\]/.test(text),
    'must not contain control characters or backslashes',
  )
  .refine(
    (text) => text.split('/').every((part) => part !== '' && part !== '.' && part !== '..'),
    'must be parts with single slashes between them, none of them . or ..',
  );

const params = z.object({ packet: name });

const reply = z.object({
  /** Where its content is sent (PUT) or read (GET), for five minutes and without a credential. */
  presignedUrl: z.string(),
  /** What a trigger gives as its payload, with the type `application/store`. */
  storagePath: z.string(),
});

/**
 * An upload names no task: the handler asks for some task that the caller may trigger, and the trigger that names the packet for that
 * one. It uses no one-time token up.
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
  summary: 'An address to send a large payload to, before the trigger that names it',
});

export const createPacketV1 = operation({
  ...upload,
  id: 'createPacketV1',
  path: '/api/v1/packets/:packet',
  summary: 'The same as createPacket, at the path of older clients',
});

export const readsPacket = {
  method: 'GET',
  tag: 'packets',
  unlimited: true,
  // A public token reads what the runs hold that it may read.
  access: { secretKey: true, publicToken: true, action: 'read', on: 'runs', objects: true },
  params,
  reply,
  errors: [404],
} as const;

export const retrievePacket = operation({
  ...readsPacket,
  id: 'retrievePacket',
  path: '/api/v1/packets/:packet',
  summary: 'An address that gives a stored payload or output',
});

export const retrievePacketV2 = operation({
  ...readsPacket,
  id: 'retrievePacketV2',
  path: '/api/v2/packets/:packet',
  summary: 'The same as retrievePacket',
});
