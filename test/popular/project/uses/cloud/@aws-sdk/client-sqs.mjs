import { ListQueuesCommand, SQSClient } from '@aws-sdk/client-sqs';
import { aws } from '../../../support/aws.mjs';

export default async () => new SQSClient(aws).send(new ListQueuesCommand()).catch(({ code }) => code);
