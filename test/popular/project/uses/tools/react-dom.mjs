import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';

export default async () => renderToStaticMarkup(createElement('p', null, 'Hello'));
