import { JSDOM } from 'jsdom';

/** Reads its default style sheet, and finds a worker next to itself. */
export default async () => {
  const { window } = new JSDOM('<p style="color: red">Hello</p><b>you</b>');
  const { document } = window;
  return [
    document.querySelector('p').textContent,
    window.getComputedStyle(document.querySelector('b')).fontWeight,
  ];
};
