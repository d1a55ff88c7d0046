import Anthropic from '@anthropic-ai/sdk';

export default async () => {
  const client = new Anthropic({ apiKey: 'none', baseURL: 'http://127.0.0.1:1', maxRetries: 0 });
  return client.models.list().then(
    () => 'listed',
    (error) => error.constructor.name,
  );
};
