import { ServiceBusClient } from '@azure/service-bus';

export default async () => {
  const client = new ServiceBusClient(
    'Endpoint=sb://a.servicebus.windows.net/;SharedAccessKeyName=b;SharedAccessKey=c',
  );
  const { entityPath } = client.createSender('mails');
  await client.close();
  return entityPath;
};
