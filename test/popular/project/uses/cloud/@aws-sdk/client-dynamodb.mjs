import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { aws } from '../../../support/aws.mjs';

export default async () => new DynamoDBClient(aws).send(new ListTablesCommand()).catch(({ code }) => code);
