import { BSON, MongoClient } from 'mongodb';

export default async () => {
  const client = new MongoClient('mongodb://127.0.0.1:1', { serverSelectionTimeoutMS: 200 });
  const error = await client.connect().catch((reason) => reason.name);
  return [BSON.serialize({ n: 1 }).length, error];
};
