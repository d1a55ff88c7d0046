import { parseHTML } from 'linkedom';

export default async () => parseHTML('<p>Hello</p>').document.querySelector('p').textContent;
