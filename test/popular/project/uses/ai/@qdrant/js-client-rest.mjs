import { QdrantClient } from '@qdrant/js-client-rest';

export default async () =>
  typeof new QdrantClient({ url: 'http://127.0.0.1:1', checkCompatibility: false }).search;
