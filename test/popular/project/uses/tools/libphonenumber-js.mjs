import { parsePhoneNumber } from 'libphonenumber-js';

export default async () => parsePhoneNumber('+49 30 123456').country;
