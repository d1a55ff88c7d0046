import { parse } from 'node-html-parser';

export default async () => parse('<p>Hello</p>').querySelector('p').text;
