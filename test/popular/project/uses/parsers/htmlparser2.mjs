import { parseDocument } from 'htmlparser2';

export default async () => parseDocument('<p>Hello</p>').children[0].name;
