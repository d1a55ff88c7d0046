import { WebClient } from '@slack/web-api';

export default async () => {
  const client = new WebClient('none', { slackApiUrl: 'http://127.0.0.1:1/', retryConfig: { retries: 0 } });
  return client.auth.test().then(
    () => 'tested',
    (error) => error.code,
  );
};
