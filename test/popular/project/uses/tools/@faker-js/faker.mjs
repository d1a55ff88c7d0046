import { faker } from '@faker-js/faker';

export default async () => {
  faker.seed(1);
  return faker.person.firstName();
};
