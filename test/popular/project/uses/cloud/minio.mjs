import { Client } from 'minio';

export default async () =>
  new Client({
    endPoint: '127.0.0.1',
    port: 1,
    useSSL: false,
    accessKey: 'a',
    secretKey: 'b',
    region: 'us-east-1',
  })
    .presignedGetObject('mails', 'b')
    .then((url) => url.includes('X-Amz-Signature'));
