import { Pinecone } from '@pinecone-database/pinecone';

export default async () => typeof new Pinecone({ apiKey: 'none' }).index('a', 'http://127.0.0.1:1').query;
