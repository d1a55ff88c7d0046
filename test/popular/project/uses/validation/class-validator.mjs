import { IsEmail, validate } from 'class-validator';

export default async () => {
  class Mail {
    to = 'a@';
  }
  IsEmail()(Mail.prototype, 'to');
  return (await validate(new Mail())).map(({ property }) => property);
};
