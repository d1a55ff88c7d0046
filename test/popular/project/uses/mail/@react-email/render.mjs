import { render } from '@react-email/render';
import { createElement } from 'react';

export default async () =>
  (await render(createElement('p', null, 'Hello'), { pretty: true })).includes('<p>Hello</p>');
