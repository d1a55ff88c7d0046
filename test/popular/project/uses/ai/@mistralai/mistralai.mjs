import { Mistral } from '@mistralai/mistralai';

export default async () => typeof new Mistral({ apiKey: 'none' }).chat.complete;
