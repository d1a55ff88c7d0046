import { createElement } from 'react';
import { Document, Page, Text, renderToBuffer } from '@react-pdf/renderer';

/** React is a peer dependency: two copies of React would not work together. */
export default async () => {
  const Line = ({ text }) => createElement(Text, null, text);
  const page = createElement(Page, null, createElement(Line, { text: 'Hello' }));
  const bytes = await renderToBuffer(createElement(Document, null, page));
  return bytes.subarray(0, 5).toString('latin1');
};
