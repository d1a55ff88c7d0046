import { BigQuery } from '@google-cloud/bigquery';

export default async () => new BigQuery({ projectId: 'a' }).dataset('b').id;
