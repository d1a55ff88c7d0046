import 'reflect-metadata';
import { plainToInstance } from 'class-transformer';

export default async () => {
  class Mail {
    to = '';
  }
  return plainToInstance(Mail, { to: 'a' }) instanceof Mail;
};
