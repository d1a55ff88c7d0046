import { ChatOpenAI } from '@langchain/openai';

export default async () => new ChatOpenAI({ apiKey: 'none', model: 'gpt-4o' }).model;
