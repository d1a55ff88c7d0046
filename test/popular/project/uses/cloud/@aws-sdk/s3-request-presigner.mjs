import { GetObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { aws } from '../../../support/aws.mjs';

export default async () =>
  new URL(
    await getSignedUrl(new S3Client(aws), new GetObjectCommand({ Bucket: 'a', Key: 'b' })),
  ).searchParams.get('X-Amz-Algorithm');
