import { PostHog } from 'posthog-node';

export default async () => {
  const client = new PostHog('none', { host: 'http://127.0.0.1:1', disabled: true });
  client.capture({ distinctId: 'a', event: 'b' });
  await client.shutdown();
  return client.host;
};
