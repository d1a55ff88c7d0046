import { PromptTemplate } from '@langchain/core/prompts';

export default async () => PromptTemplate.fromTemplate('Hello {name}').format({ name: 'Ada' });
