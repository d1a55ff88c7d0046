import Joi from 'joi';

export default async () => Joi.object({ n: Joi.number() }).validate({ n: '1' }).value;
