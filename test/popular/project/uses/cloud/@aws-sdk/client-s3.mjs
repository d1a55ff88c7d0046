import { ListBucketsCommand, S3Client } from '@aws-sdk/client-s3';
import { aws } from '../../../support/aws.mjs';

export default async () => new S3Client(aws).send(new ListBucketsCommand()).catch(({ code }) => code);
