import { Button, Html } from '@react-email/components';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';

export default async () => {
  const html = renderToStaticMarkup(
    createElement(Html, null, createElement(Button, { href: 'https://example.com' }, 'Go')),
  );
  return html.includes('href="https://example.com"');
};
