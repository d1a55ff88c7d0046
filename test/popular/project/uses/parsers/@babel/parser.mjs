import { parse } from '@babel/parser';

export default async () => parse('1 + 1').program.body.length;
