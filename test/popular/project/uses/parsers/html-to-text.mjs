import { convert } from 'html-to-text';

export default async () => convert('<h1>Hello</h1>');
