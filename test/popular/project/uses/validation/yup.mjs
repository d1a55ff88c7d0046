import { number, object } from 'yup';

export default async () => object({ n: number().required() }).validate({ n: '1' });
