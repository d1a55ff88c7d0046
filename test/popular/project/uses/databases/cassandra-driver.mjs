import cassandra from 'cassandra-driver';

export default async () => {
  const client = new cassandra.Client({ contactPoints: ['127.0.0.1:1'], localDataCenter: 'a' });
  const error = await client.connect().catch(({ name }) => name);
  await client.shutdown();
  return error;
};
