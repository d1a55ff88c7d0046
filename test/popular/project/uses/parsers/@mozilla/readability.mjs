import { Readability } from '@mozilla/readability';
import { JSDOM } from 'jsdom';

export default async () => {
  const text = 'Hello world, this is a sentence. '.repeat(30);
  const { document } = new JSDOM(`<title>News</title><article><p>${text}</p><p>${text}</p></article>`).window;
  return new Readability(document).parse().title;
};
