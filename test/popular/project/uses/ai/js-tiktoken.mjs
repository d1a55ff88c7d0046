import { getEncoding } from 'js-tiktoken';

export default async () => getEncoding('cl100k_base').encode('Hello world');
