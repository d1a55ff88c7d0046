import { ChromaClient } from 'chromadb';

export default async () => {
  const client = new ChromaClient({ host: '127.0.0.1', port: 1 });
  return client.heartbeat().then(
    () => 'alive',
    (error) => error.name,
  );
};
