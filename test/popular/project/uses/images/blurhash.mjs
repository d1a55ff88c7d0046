import { encode } from 'blurhash';

export default async () => encode(new Uint8ClampedArray(4 * 4 * 4).fill(128), 4, 4, 2, 2);
