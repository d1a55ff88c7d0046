import { SuperJSON } from 'superjson';

const hasBuffers = typeof Buffer === 'function';

/** superjson with the custom type that the published SDK uses for Buffers. */
export const superjson = new SuperJSON();
superjson.registerCustom<Uint8Array, number[]>(
  {
    isApplicable: (value): value is Uint8Array => hasBuffers && Buffer.isBuffer(value),
    serialize: (bytes) => [...bytes],
    deserialize: (bytes) => (hasBuffers ? Buffer.from(bytes) : Uint8Array.from(bytes)),
  },
  'buffer',
);
