import grpc from '@grpc/grpc-js';

export default async () => {
  const client = new grpc.Client('127.0.0.1:1', grpc.credentials.createInsecure());
  const error = await new Promise((resolve) => client.waitForReady(Date.now() + 200, resolve));
  client.close();
  return error.message;
};
