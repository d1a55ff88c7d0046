import Groq from 'groq-sdk';

export default async () => {
  const client = new Groq({ apiKey: 'none', baseURL: 'http://127.0.0.1:1', maxRetries: 0 });
  return client.models.list().then(
    () => 'listed',
    (error) => error.constructor.name,
  );
};
