import aws from 'aws-sdk';

/** Reads the descriptions of services from files of the package. */
export default async () => {
  const s3 = new aws.S3({
    endpoint: 'http://127.0.0.1:1',
    accessKeyId: 'a',
    secretAccessKey: 'b',
    maxRetries: 0,
  });
  return s3
    .listBuckets()
    .promise()
    .catch(({ code }) => code);
};
