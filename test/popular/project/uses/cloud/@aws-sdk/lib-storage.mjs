import { S3Client } from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { aws } from '../../../support/aws.mjs';

export default async () =>
  new Upload({ client: new S3Client(aws), params: { Bucket: 'a', Key: 'b', Body: 'c' } })
    .done()
    .catch(({ code }) => code);
