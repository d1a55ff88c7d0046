import { encode } from 'gpt-tokenizer';

export default async () => encode('Hello world');
