import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb';
import { aws } from '../../../support/aws.mjs';

export default async () =>
  DynamoDBDocumentClient.from(new DynamoDBClient(aws))
    .send(new GetCommand({ TableName: 'a', Key: { id: 1 } }))
    .catch(({ code }) => code);
