import esprima from 'esprima';

export default async () => esprima.parseScript('1 + 1').body.length;
