import { Client } from '@elastic/elasticsearch';

export default async () => {
  const client = new Client({ node: 'http://127.0.0.1:1', maxRetries: 0 });
  return client.ping().then(
    () => 'alive',
    (error) => error.name,
  );
};
