import { evaluate } from 'mathjs';

export default async () => evaluate('2 inch to cm').toString();
