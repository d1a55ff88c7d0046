import { codeToHtml } from 'shiki';

export default async () => (await codeToHtml('const a = 1', { lang: 'js', theme: 'nord' })).includes('nord');
