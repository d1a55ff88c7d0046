import { marked } from 'marked';

export default async () => marked.parse('# Hello');
