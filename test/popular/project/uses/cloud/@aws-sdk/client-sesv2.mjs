import { ListEmailIdentitiesCommand, SESv2Client } from '@aws-sdk/client-sesv2';
import { aws } from '../../../support/aws.mjs';

export default async () =>
  new SESv2Client(aws).send(new ListEmailIdentitiesCommand()).catch(({ code }) => code);
