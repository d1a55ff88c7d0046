import validator from 'validator';

export default async () => validator.isIBAN('DE89370400440532013000');
