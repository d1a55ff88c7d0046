import hljs from 'highlight.js';

export default async () => hljs.highlight('const a = 1', { language: 'js' }).value;
